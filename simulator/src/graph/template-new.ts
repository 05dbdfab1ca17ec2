import { arrayIn, isObject, type Json, lengthOf, objectIn, textIn } from '../json.ts'
import { refuse, refuseParameter } from '../network/errors.ts'
import { findTemplate, type Template, type World } from '../world.ts'
import { variablesOf } from './messages/template-text.ts'
import { refuseTemplate } from './template-refusals.ts'

type NewTemplate = Pick<Template, 'name' | 'language' | 'category' | 'parameterFormat' | 'components'>

/** Validates a new template before the review. */
export function readNewTemplate(world: World, wabaId: string, body: Json): NewTemplate {
  const name = textIn(body, 'name')
  const language = textIn(body, 'language')
  const category = textIn(body, 'category')?.toUpperCase()
  if (!name) return refuseParameter('The parameter name is required.')
  if (!/^[a-z0-9_]{1,512}$/.test(name))
    refuse(100, 'Message template name can only have lowercase letters, digits and underscores.')
  if (!language) return refuseParameter('The parameter language is required.')
  if (!/^[a-z]{2,3}(_[A-Z]{2,3})?$/.test(language))
    refuseParameter(`Param language is not a supported language code - got "${language}".`)
  const checked = readCategory(category)
  if (findTemplate(world, wabaId, name, language)) refuseTemplate('exists')
  return { name, language, category: checked, ...readComponents(body, checked) }
}

export function readCategory(category: string | undefined): string {
  return category && ['MARKETING', 'UTILITY', 'AUTHENTICATION'].includes(category)
    ? category
    : refuseParameter('Param category must be one of {AUTHENTICATION, MARKETING, UTILITY}.')
}

/** The components of a new or edited template. */
export function readComponents(body: Json, category: string): Pick<Template, 'parameterFormat' | 'components'> {
  const components = (arrayIn(body, 'components') ?? []).map((component) =>
    isObject(component) ? component : refuseParameter('Param components must be a list of objects.'),
  )
  const parameterFormat = textIn(body, 'parameter_format')?.toUpperCase() === 'NAMED' ? 'NAMED' : 'POSITIONAL'
  const stored = components.map((component) => readComponent(component, category, parameterFormat))
  if (!stored.some((component) => component.type === 'BODY')) refuseTemplate('body')
  return { parameterFormat, components: stored }
}

function readComponent(component: Json, category: string, format: string): Json {
  const type = (textIn(component, 'type') ?? '').toUpperCase()
  const kinds = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS', 'CAROUSEL', 'LIMITED_TIME_OFFER']
  if (!kinds.includes(type)) return refuseParameter(`Param components[type] must be one of {${kinds.join(', ')}}.`)
  const upper = { ...component, type }
  if (type === 'BODY' && category === 'AUTHENTICATION') return otpBody(upper)
  if (type === 'FOOTER' && category === 'AUTHENTICATION') return otpFooter(upper)
  if (type === 'BODY') checkBody(upper, format)
  if (type === 'HEADER') return readHeader(upper, format)
  if (type === 'FOOTER') checkFooter(upper)
  if (type === 'BUTTONS') return { ...upper, buttons: readButtons(upper) }
  if (type === 'CAROUSEL') return { ...upper, cards: readCards(upper, category, format) }
  return upper
}

function checkText(component: Json, max: number, format: string): void {
  const text = textIn(component, 'text')
  const part = component.type === 'HEADER' ? 'header' : 'body'
  if (!text) refuseTemplate(part)
  if (lengthOf(text) > max) refuseTemplate('length')
  const variables = variablesOf(text)
  const tight = text.replaceAll(/\s/g, '')
  if (variables.some((name) => !tight.includes(`{{${name}}}`)) || /\{\{|\}\}/.test(withoutVariables(text)))
    refuseTemplate(part)
  const isNamed = variables.some((name) => !/^\d+$/.test(name))
  if (variables.length > 0 && isNamed !== (format === 'NAMED')) refuseTemplate(part)
  if (variables.length > examplesIn(component, part)) refuseTemplate('example')
}

function checkBody(body: Json, format: string): void {
  checkText(body, 1024, format)
  const text = (textIn(body, 'text') ?? '').trim()
  const variable = String.raw`\{\{\s*\w+\s*\}\}`
  if (new RegExp(`^${variable}|${variable}$|${variable}\\s*${variable}`).test(text)) refuseTemplate('dangling')
  const words = withoutVariables(text)
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length
  const variables = variablesOf(text).length
  // A text in a script without spaces has few words, but is long.
  if (variables > 0 && words < 2 * variables + 1 && lengthOf(text) < 12 * variables + 24) refuseTemplate('ratio')
}

const withoutVariables = (text: string): string => text.replaceAll(/\{\{\s*\w+\s*\}\}/g, ' ')

/** How many examples the component has. */
function examplesIn(component: Json, part: 'header' | 'body'): number {
  const example = objectIn(component, 'example') ?? {}
  const given = arrayIn(example, `${part}_text`) ?? arrayIn(example, `${part}_text_named_params`) ?? []
  const row = Array.isArray(given[0]) ? given[0] : given
  return row.filter((each: unknown) => each !== '').length
}

function readHeader(header: Json, format: string): Json {
  const kind = (textIn(header, 'format') ?? '').toUpperCase()
  const kinds = ['TEXT', 'IMAGE', 'VIDEO', 'DOCUMENT', 'GIF', 'LOCATION', 'PRODUCT']
  if (!kinds.includes(kind)) return refuseParameter(`Param components[format] must be one of {${kinds.join(', ')}}.`)
  if (kind === 'TEXT') {
    checkText(header, 60, format)
    const text = textIn(header, 'text') ?? ''
    if (variablesOf(text).length > 1 || /[\n\r*]|\p{Emoji_Presentation}/u.test(text)) refuseTemplate('header')
  }
  const isFile = ['IMAGE', 'VIDEO', 'DOCUMENT', 'GIF'].includes(kind)
  if (isFile && !arrayIn(objectIn(header, 'example') ?? {}, 'header_handle')?.[0]) refuseTemplate('example')
  return { ...header, format: kind }
}

function checkFooter(footer: Json): void {
  const text = textIn(footer, 'text') ?? ''
  if (lengthOf(text) < 1 || lengthOf(text) > 60) refuseTemplate('length')
  if (variablesOf(text).length > 0) refuseTemplate('footer')
}

const mostOf: Readonly<Record<string, number>> = { URL: 2, PHONE_NUMBER: 1, COPY_CODE: 1 }

function readButtons(component: Json): Json[] {
  const buttons = (arrayIn(component, 'buttons') ?? []).filter(isObject)
  const types = buttons.map((button) => (textIn(button, 'type') ?? '').toUpperCase())
  const changes = types.filter((type, at) => at > 0 && (type === 'QUICK_REPLY') !== (types[at - 1] === 'QUICK_REPLY'))
  const tooMany = Object.entries(mostOf).some(([type, most]) => types.filter((each) => each === type).length > most)
  if (buttons.length < 1 || buttons.length > 10 || changes.length > 1 || tooMany) refuseTemplate('buttons')
  return buttons.map((button) => {
    const type = (textIn(button, 'type') ?? '').toUpperCase()
    if (type === 'OTP') return otpButton(button)
    const text = textIn(button, 'text') ?? (type === 'COPY_CODE' ? 'Copy offer code' : '')
    if (lengthOf(text) < 1 || lengthOf(text) > 25) refuseTemplate('length')
    const url = textIn(button, 'url')
    if (type === 'URL' && !url) refuse(100, 'components: a URL button needs a url')
    if (url && variablesOf(url).length > 0 && button.example === undefined) refuseTemplate('example')
    return { ...button, type, text }
  })
}

function readCards(component: Json, category: string, format: string): Json[] {
  const cards = (arrayIn(component, 'cards') ?? []).filter(isObject)
  if (cards.length < 2 || cards.length > 10) refuse(100, 'components: a carousel has 2 to 10 cards')
  return cards.map((card) => ({
    components: (arrayIn(card, 'components') ?? [])
      .filter(isObject)
      .map((part) => readComponent(part, category, format)),
  }))
}

/** WhatsApp writes the text of one-time codes itself and lists the button as a URL button. */
function otpBody(body: Json): Json {
  const advice = body.add_security_recommendation === true ? ' For your security, do not share this code.' : ''
  return { ...body, text: `*{{1}}* is your verification code.${advice}`, example: { body_text: [['123456']] } }
}

function otpFooter(footer: Json): Json {
  const minutes = typeof footer.code_expiration_minutes === 'number' ? footer.code_expiration_minutes : 10
  return { ...footer, text: `This code expires in ${minutes} minutes.` }
}

function otpButton(button: Json): Json {
  const otpType = textIn(button, 'otp_type') ?? 'COPY_CODE'
  const url = `https://www.whatsapp.com/otp/code/?otp_type=${otpType}&code=otp`
  return { type: 'URL', text: textIn(button, 'text') ?? 'Copy code', url: `${url}{{1}}`, example: [`${url}123456`] }
}
