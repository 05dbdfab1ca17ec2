/**
 * The variables of a template. A slot is one variable in a component of the template: its key in our API, and its
 * position in WhatsApp's send request.
 */
import type { TemplateFlow, TemplateVariable, VariableType } from '@parley/contract/template'
import { type JsonObject, readArray, readId, readNonBlank, readObject, readText } from '../read-json.ts'
import { placeholdersIn, suffixOf } from './placeholders.ts'

/** A template as WhatsApp stores it. */
export interface NetworkTemplate {
  name: string
  language: string
  category: string | null
  components: readonly unknown[]
}

export interface Slot {
  key: string
  /** Minutes are never listed, because they are optional. */
  type: VariableType | 'minutes'
  required: boolean
  /** False for a button that uses the value of another variable. */
  listed: boolean
  example: string | null
  maxLength: number
  card: number | null
  part: SlotPart
}

type SlotPart =
  | { kind: 'header'; parameterName: string | null }
  | { kind: 'body'; parameterName: string | null }
  | { kind: 'offer' }
  | { kind: 'button'; index: number; subType: ButtonType }

export type ButtonType = 'url' | 'copy_code' | 'quick_reply' | 'catalog' | 'mpm' | 'voice_call'

export function templateVariables(template: Pick<NetworkTemplate, 'category' | 'components'>): TemplateVariable[] {
  return templateSlots(template).flatMap(({ key, part, card, type, required, listed, example }) =>
    listed && type !== 'minutes' ? [{ key, in: card === null ? part.kind : 'card', type, required, example }] : [],
  )
}

export function templateFlow(template: Pick<NetworkTemplate, 'components'>): TemplateFlow | null {
  const buttons = template.components.map(readObject).flatMap((component) => buttonsOf(component))
  const index = buttons.findIndex((button) => upperCase(button?.type) === 'FLOW')
  return index === -1 ? null : { flow_id: readId(buttons[index]?.flow_id), button_index: index }
}

export function templateSlots(template: Pick<NetworkTemplate, 'category' | 'components'>): Slot[] {
  const components = template.components.map(readObject).filter((component) => component !== null)
  return hasOneTimeCode(template) ? codeSlots(components) : slotsOf(components, null)
}

const mediaFormats: ReadonlyMap<string, VariableType> = new Map([
  ['IMAGE', 'image'],
  ['VIDEO', 'video'],
  ['GIF', 'gif'],
  ['DOCUMENT', 'document'],
  ['LOCATION', 'location'],
  ['PRODUCT', 'product'],
])

function slotsOf(components: readonly JsonObject[], card: number | null): Slot[] {
  return components.flatMap((component): Slot[] => {
    switch (upperCase(component.type)) {
      case 'HEADER':
        return headerSlots(component, card)
      case 'BODY':
        return textSlots('body', component, card)
      case 'LIMITED_TIME_OFFER': {
        const expires = readObject(component.limited_time_offer)?.has_expiration === true
        return expires ? [slot(card, 'offer.expires_at', 'timestamp', { kind: 'offer' })] : []
      }
      case 'BUTTONS':
        return buttonsOf(component).flatMap((button, index) => buttonSlots(button, index, card))
      case 'CAROUSEL':
        return readArray(component.cards).flatMap((item, index) =>
          slotsOf(
            readArray(readObject(item)?.components)
              .map(readObject)
              .filter((part) => part !== null),
            index,
          ),
        )
      default:
        return []
    }
  })
}

function headerSlots(component: JsonObject, card: number | null): Slot[] {
  const type = mediaFormats.get(upperCase(component.format))
  if (type === undefined) return textSlots('header', component, card)
  const handle = readNonBlank(readArray(readObject(component.example)?.header_handle)[0], 4096)
  return [slot(card, `header.${type}`, type, { kind: 'header', parameterName: null }, { example: handle })]
}

function textSlots(kind: 'header' | 'body', component: JsonObject, card: number | null): Slot[] {
  const maxLength = kind === 'header' ? 60 : 32_768
  const example = readObject(component.example)
  const given = readArray(example?.[`${kind}_text`])
  const byPosition = Array.isArray(given[0]) ? given[0] : given
  const byName = readArray(example?.[`${kind}_text_named_params`]).map(readObject)
  return placeholdersIn(component.text).map(({ name, position }) => {
    const sample =
      position === null ? byName.find((item) => item?.param_name === name)?.example : byPosition[position - 1]
    const part = { kind, parameterName: position === null ? name : null }
    return slot(card, `${kind}.${name}`, 'text', part, { example: readText(sample, 4096), maxLength })
  })
}

function buttonSlots(button: JsonObject | null, index: number, card: number | null): Slot[] {
  const { url, example, type } = button ?? {}
  const slotOf = (name: string, subType: ButtonType, more: SlotOptions = {}, type: Slot['type'] = 'text') =>
    slot(card, `buttons.${index}.${name}`, type, { kind: 'button', index, subType }, more)
  const optional = { required: false }
  switch (upperCase(type)) {
    case 'URL':
      // URL variables are positional, even in a template with named variables.
      if (placeholdersIn(url).length === 0) return []
      return [slotOf('url', 'url', { example: suffixOf(url, firstOf(example)), maxLength: 2000 })]
    case 'COPY_CODE':
      return [slotOf('code', 'copy_code', { example: firstOf(example), maxLength: 20 })]
    case 'MPM':
      return [slotOf('products', 'mpm', {}, 'products')]
    case 'QUICK_REPLY':
      return [slotOf('payload', 'quick_reply', optional)]
    case 'CATALOG':
      return [slotOf('thumbnail', 'catalog', optional)]
    case 'VOICE_CALL':
      return [
        slotOf('ttl_minutes', 'voice_call', optional, 'minutes'),
        slotOf('payload', 'voice_call', { ...optional, maxLength: 512 }),
      ]
    default:
      return []
  }
}

/** WhatsApp writes the body of an authentication template. The same code is used in the body and in the button. */
function codeSlots(components: readonly JsonObject[]): Slot[] {
  const body = components.find((component) => upperCase(component.type) === 'BODY')
  const example = firstOf(readArray(readObject(body?.example)?.body_text)[0])
  const code = slot(null, 'body.1', 'text', { kind: 'body', parameterName: null }, { example, maxLength: 15 })
  const buttons = components.flatMap(buttonsOf)
  const buttonSlots = buttons.flatMap((button, index): Slot[] =>
    isCodeButton(button) || placeholdersIn(button?.url).length > 0
      ? [{ ...code, listed: false, part: { kind: 'button', index, subType: 'url' } }]
      : [],
  )
  return [code, ...buttonSlots]
}

/** An authentication template: it contains a one-time code. */
export function hasOneTimeCode({ category, components }: Pick<NetworkTemplate, 'category' | 'components'>): boolean {
  return upperCase(category) === 'AUTHENTICATION' || components.map(readObject).flatMap(buttonsOf).some(isCodeButton)
}

function isCodeButton(button: JsonObject | null): boolean {
  if (upperCase(button?.type) === 'OTP') return true
  return typeof button?.url === 'string' && button.url.startsWith('https://www.whatsapp.com/otp/')
}

type SlotOptions = Partial<Pick<Slot, 'example' | 'maxLength' | 'required'>>

function slot(card: number | null, key: string, type: Slot['type'], part: SlotPart, more: SlotOptions = {}): Slot {
  return {
    key: card === null ? key : `cards.${card}.${key}`,
    type,
    required: true,
    listed: true,
    example: null,
    maxLength: 256,
    card,
    part,
    ...more,
  }
}

function firstOf(example: unknown): string | null {
  return readNonBlank(Array.isArray(example) ? example[0] : example, 4096)
}

function buttonsOf(component: JsonObject | null): (JsonObject | null)[] {
  return upperCase(component?.type) === 'BUTTONS' ? readArray(component?.buttons).map(readObject) : []
}

function upperCase(value: unknown): string {
  return typeof value === 'string' ? value.toUpperCase() : ''
}
