import { type Message, mediaAddress } from './api.ts'
import { avatar } from './avatar.ts'
import { cardView } from './card-view.ts'
import { type Child, el } from './dom.ts'
import { icon } from './icons.ts'
import { interactiveCard } from './interactive-card.ts'
import { isObject, type Json, listAt, parsed, textAt } from './json.ts'
import { placeCard } from './map.ts'
import { type MediaKind, mediaView } from './media.ts'
import { state } from './state.ts'
import { templateCard } from './template-card.ts'
import { money, rich } from './text.ts'

/** What is inside a bubble. */
export function contentOf(message: Message): Child[] {
  const { type, content } = message
  switch (type) {
    case 'text':
      return [el('p', { class: 'words' }, ...rich(textAt(content, 'body')))]
    case 'image':
    case 'video':
    case 'sticker':
    case 'document':
    case 'audio':
      return mediaContent(type, content, message)
    case 'location':
      return [placeCard(content as Json)]
    case 'contacts':
      return (Array.isArray(content) ? content : []).map(contactView)
    case 'order':
      return orderView(content)
    case 'template': {
      const card = templateCard(content)
      return card ? cardView(card, message) : [still(`Template ${textAt(content, 'name')}`)]
    }
    case 'button':
      return [el('p', { class: 'words' }, textAt(content, 'text'))]
    case 'interactive':
      return message.direction === 'out' ? cardView(interactiveCard(content), message) : answerView(content)
    case 'edit':
      return [el('p', { class: 'words' }, textAt(content, 'message', 'text', 'body')), still('edited')]
    case 'revoke':
      return [still('A message was deleted')]
    case 'request_welcome':
      return [still('Opened the chat for the first time')]
    default:
      return [still(`A message of the type “${textAt(content, 'type') || type}”`)]
  }
}

/** One line that stands for a message: in a quotation, or in a list. */
export function summaryOf({ type, content, direction }: Pick<Message, 'type' | 'content' | 'direction'>): string {
  const words =
    (type === 'template' && templateCard(content)?.body) ||
    textAt(content, 'body') ||
    textAt(content, 'caption') ||
    textAt(content, 'body', 'text') ||
    textAt(content, 'text') ||
    textAt(content, 'button_reply', 'title') ||
    textAt(content, 'list_reply', 'title') ||
    textAt(content, 'name') ||
    textAt(content, 'filename')
  // Marks for bold and the like mean nothing in one plain line.
  if (words) return words.replaceAll(/(?<!\w)[*_~](\S(?:[^*_~\n]*\S)?)[*_~](?!\w)/g, '$1')
  if (type === 'interactive' && direction === 'in') return 'Form'
  return names[type] ?? type
}

const names: Record<string, string> = {
  image: 'Photo',
  video: 'Video',
  audio: 'Voice message',
  sticker: 'Sticker',
  document: 'Document',
  location: 'Location',
  contacts: 'Contact',
  order: 'Order',
}

function mediaContent(type: MediaKind, content: unknown, message: Message): Child[] {
  const caption = textAt(content, 'caption')
  return [
    mediaView(type, isObject(content) ? content : {}, message),
    caption && el('p', { class: 'words' }, ...rich(caption)),
  ]
}

function contactView(contact: unknown): Child {
  const name = textAt(contact, 'name', 'formatted_name') || 'Phone number'
  const phones = listAt(contact, 'phones').map((phone) => textAt(phone, 'phone'))
  return el(
    'div',
    { class: 'contact' },
    avatar(name),
    el('span', {}, el('strong', {}, name), ...phones.map((phone) => el('span', {}, phone))),
  )
}

function orderView(content: unknown): Child[] {
  const products = state.catalogs.flatMap((catalog) => catalog.products)
  const items = listAt(content, 'product_items')
  const total = items.reduce(
    (sum: number, item) => sum + Number(textAt(item, 'item_price')) * Number(textAt(item, 'quantity')),
    0,
  )
  const currency = textAt(items[0], 'currency')
  const note = textAt(content, 'text')
  return [
    el(
      'div',
      { class: 'order' },
      el('strong', { class: 'order-title' }, icon('bag', 18), 'Order'),
      items.map((item) => {
        const sku = textAt(item, 'product_retailer_id')
        const name = products.find(({ retailerId }) => retailerId === sku)?.name ?? sku
        const price = Number(textAt(item, 'item_price')) * Number(textAt(item, 'quantity'))
        return el(
          'div',
          { class: 'order-line' },
          el('span', {}, `${textAt(item, 'quantity')} × ${name}`),
          el('span', {}, money(price, currency)),
        )
      }),
      el('div', { class: 'order-line total' }, el('span', {}, 'Total'), el('span', {}, money(total, currency))),
    ),
    note && el('p', { class: 'words' }, ...rich(note)),
  ]
}

function answerView(content: unknown): Child[] {
  const chosen = textAt(content, 'button_reply', 'title') || textAt(content, 'list_reply', 'title')
  if (chosen) {
    const more = textAt(content, 'list_reply', 'description')
    return [el('p', { class: 'words' }, chosen), more && el('p', { class: 'card-footer' }, more)]
  }
  const response = parsed(textAt(content, 'nfm_reply', 'response_json'))
  if (!isObject(response)) return [still('A form that is not JSON')]
  const lines = Object.entries(response).filter(
    ([name, value]) => name !== 'flow_token' && value !== '' && value !== null,
  )
  return [
    el('strong', { class: 'order-title' }, icon('form', 18), 'Form sent'),
    el(
      'dl',
      { class: 'answers' },
      lines.map(([name, value]) => [el('dt', {}, name.replaceAll('_', ' ')), el('dd', {}, answerValue(value))]),
    ),
  ]
}

function answerValue(value: unknown): Child {
  if (!Array.isArray(value)) return typeof value === 'boolean' ? (value ? 'Yes' : 'No') : textOf(value)
  if (value.length === 0) return 'none'
  return value.map((one) => {
    const id = textAt(one, 'id')
    const name = textAt(one, 'file_name') || 'file'
    // An enciphered file has no id here: only the app has its keys.
    if (!id || !isObject(one)) return el('span', { class: 'chip' }, textAt(one, 'file_name') || textOf(one))
    if (textAt(one, 'mime_type').startsWith('image/'))
      return el('img', { class: 'thumb', src: mediaAddress(id), alt: name })
    return el('a', { class: 'chip', href: mediaAddress(id), download: name }, name)
  })
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const still = (words: string): HTMLElement => el('p', { class: 'still' }, words)
