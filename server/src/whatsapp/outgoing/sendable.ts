/** Whether we can fill every part of a template. WhatsApp adds kinds of parts that need values we do not know. */
import { type JsonObject, readArray, readObject } from '../read-json.ts'

export interface TemplateParts {
  components: readonly unknown[]
  subCategory: string | null
}

/** The parts that cannot be filled, as a sentence. Null if the template can be sent. */
export function notSendableReason({ components, subCategory }: TemplateParts): string | null {
  const kind = upperCase(subCategory)
  const unknown = [...(orderKinds.has(kind) ? [`${kind} message`] : []), ...unknownParts(components)]
  return unknown.length === 0
    ? null
    : `Parley does not support these parts of the template: ${[...new Set(unknown)].join(', ')}.`
}

/** An order status is not in the components: WhatsApp requires it in every message of this sub-category. */
const orderKinds: ReadonlySet<string> = new Set(['ORDER_DETAILS', 'ORDER_STATUS', 'RICH_ORDER_STATUS'])

const headerFormats: ReadonlySet<string> = new Set(['TEXT', 'IMAGE', 'VIDEO', 'GIF', 'DOCUMENT', 'LOCATION', 'PRODUCT'])

const buttonTypes: ReadonlySet<string> = new Set([
  'QUICK_REPLY',
  'URL',
  'PHONE_NUMBER',
  'COPY_CODE',
  'FLOW',
  'CATALOG',
  'MPM',
  'SPM',
  'OTP',
  'VOICE_CALL',
  'REQUEST_CONTACT_INFO',
])

function unknownParts(components: readonly unknown[]): string[] {
  return components.map(readObject).flatMap((component): string[] => {
    const type = upperCase(component?.type)
    switch (type) {
      case 'BODY':
      case 'FOOTER':
      case 'LIMITED_TIME_OFFER':
      case 'CALL_PERMISSION_REQUEST':
        return []
      case 'HEADER':
        return unknownHeader(component)
      case 'BUTTONS':
        return readArray(component?.buttons)
          .map((button) => upperCase(readObject(button)?.type))
          .flatMap((button) => (buttonTypes.has(button) ? [] : [`button ${button || 'without a type'}`]))
      case 'CAROUSEL':
        return readArray(component?.cards).flatMap((card) => unknownParts(readArray(readObject(card)?.components)))
      default:
        return [`component ${type || 'without a type'}`]
    }
  })
}

/** Old templates have no format for a text. */
function unknownHeader(component: JsonObject | null): string[] {
  const format = upperCase(component?.format) || 'TEXT'
  return headerFormats.has(format) ? [] : [`header ${format}`]
}

function upperCase(value: unknown): string {
  return typeof value === 'string' ? value.toUpperCase().slice(0, 64) : ''
}
