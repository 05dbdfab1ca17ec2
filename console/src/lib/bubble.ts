import { formatPhone } from './phone.ts'

/** What a message looks like on a phone. Made from a template and its values, a request, or an inbound message. */
export interface Bubble {
  header?: { kind: 'text'; text: string } | { kind: 'media'; type: string; detail?: string | null }
  body?: string | null
  footer?: string | null
  buttons?: { icon: 'reply' | 'link' | 'phone' | 'copy' | 'form' | 'list' | 'product'; text: string }[]
  location?: { latitude: number | string; longitude: number | string; name?: string | null; address?: string | null }
  cards?: Bubble[]
}

type Json = Readonly<Record<string, unknown>>

/** A template with its variables filled in. A variable without a value stays as it is. */
export function templateBubble(components: readonly unknown[], values: Json): Bubble {
  return bubbleOf(components, values, '')
}

function bubbleOf(components: readonly unknown[], values: Json, prefix: string): Bubble {
  const bubble: Bubble = {}
  for (const component of components.map(objectOf)) {
    switch (upper(component['type'])) {
      case 'HEADER':
        bubble.header = headerOf(component, values, prefix)
        break
      case 'BODY':
        bubble.body = fill(textOf(component['text']), 'body', values, prefix)
        break
      case 'FOOTER':
        bubble.footer = textOf(component['text'])
        break
      case 'LIMITED_TIME_OFFER':
        bubble.footer = textOf(objectOf(component['limited_time_offer'])['text'])
        break
      case 'BUTTONS':
        bubble.buttons = listOf(component['buttons']).map((button) => buttonOf(objectOf(button)))
        break
      case 'CAROUSEL':
        bubble.cards = listOf(component['cards']).map((card, index) =>
          bubbleOf(listOf(objectOf(card)['components']), values, `${prefix}cards.${index}.`),
        )
        break
      default:
    }
  }
  return bubble
}

function headerOf(component: Json, values: Json, prefix: string): NonNullable<Bubble['header']> {
  const format = upper(component['format'])
  if (format === '' || format === 'TEXT') {
    return { kind: 'text', text: fill(textOf(component['text']), 'header', values, prefix) }
  }
  const type = format.toLowerCase()
  return { kind: 'media', type, detail: detailOf(values[`${prefix}header.${type}`]) }
}

/** A file name, a name, a link or an ID. */
function detailOf(value: unknown): string | null {
  if (typeof value === 'string') return value
  const { link, id, name, filename } = objectOf(value)
  return textOf(filename) || textOf(name) || textOf(link) || textOf(id) || null
}

const buttonIcons: Readonly<Record<string, NonNullable<Bubble['buttons']>[number]['icon']>> = {
  URL: 'link',
  PHONE_NUMBER: 'phone',
  COPY_CODE: 'copy',
  OTP: 'copy',
  FLOW: 'form',
  CATALOG: 'product',
  MPM: 'product',
  SPM: 'product',
}

const buttonOf = (button: Json) => ({
  icon: buttonIcons[upper(button['type'])] ?? ('reply' as const),
  text: textOf(button['text']) || 'Copy code',
})

function fill(text: string, place: 'header' | 'body', values: Json, prefix: string): string {
  return text.replaceAll(/\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g, (placeholder, name: string) => {
    const value = values[`${prefix}${place}.${name}`]
    const { currency, date_time } = objectOf(value)
    const shown = objectOf(currency ?? date_time)['fallback_value'] ?? value
    return typeof shown === 'string' && shown !== '' ? shown : placeholder
  })
}

/** The message that a `POST /v1/messages` request sends. */
export function requestBubble(request: Json, components: readonly unknown[] | null): Bubble {
  const type = textOf(request['type'])
  const part = objectOf(request[type])
  switch (type) {
    case 'text':
      return { body: textOf(part['body']) }
    case 'template':
      return components ? templateBubble(components, objectOf(part['variables'])) : { body: textOf(part['name']) }
    case 'interactive':
      return interactiveBubble(part)
    case 'location':
      return { location: part as unknown as NonNullable<Bubble['location']> }
    case 'contacts':
      return { body: listOf(request['contacts']).map(contactText).join('\n') }
    case 'reaction':
      return { body: textOf(part['emoji']) || 'Reaction removed' }
    default:
      return { header: { kind: 'media', type, detail: detailOf(part) }, body: textOf(part['caption']) || null }
  }
}

function contactText(contact: unknown): string {
  const { name, phones } = objectOf(contact)
  const numbers = listOf(phones)
    .map((phone) => textOf(objectOf(phone)['phone']))
    // Without a plus sign it may be a local number.
    .map((phone) => (phone.startsWith('+') ? formatPhone(phone) : phone))
  return [textOf(objectOf(name)['formatted_name']), ...numbers].filter(Boolean).join(' · ')
}

/** The buttons of actions that WhatsApp labels itself. */
const namedTaps: Readonly<Record<string, NonNullable<Bubble['buttons']>[number]>> = {
  address_message: { icon: 'form', text: 'Provide address' },
  request_contact_info: { icon: 'phone', text: 'Share phone number' },
  call_permission_request: { icon: 'phone', text: 'Allow calls' },
  voice_call: { icon: 'phone', text: 'Call now' },
  review_and_pay: { icon: 'product', text: 'Review and pay' },
  review_order: { icon: 'product', text: 'View order' },
}

function interactiveBubble(interactive: Json): Bubble {
  const header = objectOf(interactive['header'])
  const action = objectOf(interactive['action'])
  const parameters = objectOf(action['parameters'])
  const kind = textOf(header['type'])
  const taps: NonNullable<Bubble['buttons']> = listOf(action['buttons']).map((button) => ({
    icon: 'reply',
    text: textOf(objectOf(objectOf(button)['reply'] ?? objectOf(button)['quick_reply'])['title']),
  }))
  if (action['sections']) taps.push({ icon: 'list', text: textOf(action['button']) || 'View items' })
  const named = namedTaps[textOf(action['name'])]
  if (named) taps.push({ ...named, text: textOf(parameters['display_text']) || named.text })
  else if (parameters['display_text']) taps.push({ icon: 'link', text: textOf(parameters['display_text']) })
  if (action['product_retailer_id']) taps.push({ icon: 'product', text: 'View item' })
  if (parameters['flow_cta']) taps.push({ icon: 'form', text: textOf(parameters['flow_cta']) })
  return {
    ...(kind === 'text' && { header: { kind: 'text' as const, text: textOf(header['text']) } }),
    ...(kind !== '' &&
      kind !== 'text' && { header: { kind: 'media' as const, type: kind, detail: detailOf(header[kind]) } }),
    body: textOf(objectOf(interactive['body'])['text']) || null,
    footer: textOf(objectOf(interactive['footer'])['text']) || null,
    buttons: taps,
    ...(action['cards'] !== undefined && {
      cards: listOf(action['cards']).map((card) => interactiveBubble(objectOf(card))),
    }),
  }
}

const objectOf = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const upper = (value: unknown): string => textOf(value).toUpperCase()
