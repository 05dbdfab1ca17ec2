import { arrayIn, isObject, type Json, lengthOf, objectIn, textIn } from '../json.ts'
import { GraphError, refuse, refuseParameter } from '../network/errors.ts'
import { findTemplate, type Template, type World } from '../world.ts'
import { variablesOf } from './messages/template-text.ts'

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
  if (!category || !['MARKETING', 'UTILITY', 'AUTHENTICATION'].includes(category))
    return refuseParameter('Param category must be one of {AUTHENTICATION, MARKETING, UTILITY}.')
  if (findTemplate(world, wabaId, name, language))
    throw new GraphError(100, {
      subcode: 2388024,
      details: `There is already ${language} content for this template. You can create a new template and try again.`,
    })
  const components = (arrayIn(body, 'components') ?? []).map((component) =>
    isObject(component) ? component : refuseParameter('Param components must be a list of objects.'),
  )
  const parameterFormat = textIn(body, 'parameter_format')?.toUpperCase() === 'NAMED' ? 'NAMED' : 'POSITIONAL'
  const stored = components.map((component) => readComponent(component, category, parameterFormat))
  if (!stored.some((component) => component.type === 'BODY')) refuse(100, 'Message template needs a body.')
  return { name, language, category, parameterFormat, components: stored }
}

function readComponent(component: Json, category: string, format: string): Json {
  const type = (textIn(component, 'type') ?? '').toUpperCase()
  const kinds = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS', 'CAROUSEL', 'LIMITED_TIME_OFFER']
  if (!kinds.includes(type)) return refuseParameter(`Param components[type] must be one of {${kinds.join(', ')}}.`)
  const upper = { ...component, type }
  if (type === 'BODY' && category === 'AUTHENTICATION') return otpBody(upper)
  if (type === 'FOOTER' && category === 'AUTHENTICATION') return otpFooter(upper)
  if (type === 'BODY') checkText(upper, 1024, format)
  if (type === 'HEADER') return readHeader(upper, format)
  if (type === 'FOOTER') checkFooter(upper)
  if (type === 'BUTTONS') return { ...upper, buttons: readButtons(upper) }
  if (type === 'CAROUSEL') return { ...upper, cards: readCards(upper, category, format) }
  return upper
}

function checkText(component: Json, max: number, format: string): void {
  const text = textIn(component, 'text')
  const part = String(component.type).toLowerCase()
  if (!text) refuse(100, `components: ${part} text is required`)
  if (lengthOf(text) > max) refuse(100, `components: ${part} text is longer than ${max} characters`)
  const variables = variablesOf(text)
  const tight = text.replaceAll(/\s/g, '')
  if (variables.some((name) => !tight.includes(`{{${name}}}`)))
    refuse(100, `components: ${part} variables are not numbered 1, 2, 3 …`)
  const isNamed = variables.some((name) => !/^\d+$/.test(name))
  if (variables.length > 0 && isNamed !== (format === 'NAMED'))
    refuse(100, `components: ${part} variables do not match parameter_format ${format}`)
  if (variables.length > 0 && !objectIn(component, 'example'))
    throw new GraphError(100, { subcode: 2388043, details: `components: ${part} has variables but no example` })
}

function readHeader(header: Json, format: string): Json {
  const kind = (textIn(header, 'format') ?? '').toUpperCase()
  const kinds = ['TEXT', 'IMAGE', 'VIDEO', 'DOCUMENT', 'GIF', 'LOCATION', 'PRODUCT']
  if (!kinds.includes(kind)) return refuseParameter(`Param components[format] must be one of {${kinds.join(', ')}}.`)
  if (kind === 'TEXT') {
    checkText(header, 60, format)
    if (variablesOf(textIn(header, 'text') ?? '').length > 1) refuse(100, 'components: header can have one variable')
  }
  return { ...header, format: kind }
}

function checkFooter(footer: Json): void {
  const text = textIn(footer, 'text') ?? ''
  if (lengthOf(text) < 1 || lengthOf(text) > 60) refuse(100, 'components: footer text has 1 to 60 characters')
  if (variablesOf(text).length > 0) refuse(100, 'components: footer cannot have variables')
}

function readButtons(component: Json): Json[] {
  const buttons = (arrayIn(component, 'buttons') ?? []).filter(isObject)
  if (buttons.length < 1 || buttons.length > 10) refuse(100, 'components: a template has 1 to 10 buttons')
  return buttons.map((button) => {
    const type = (textIn(button, 'type') ?? '').toUpperCase()
    if (type === 'OTP') return otpButton(button)
    const text = textIn(button, 'text') ?? (type === 'COPY_CODE' ? 'Copy offer code' : '')
    if (lengthOf(text) < 1 || lengthOf(text) > 25) refuse(100, 'components: button text has 1 to 25 characters')
    if (type === 'URL' && !textIn(button, 'url')) refuse(100, 'components: a URL button needs a url')
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
