import { type Message, mediaUrl } from './api.ts'
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
import { formatPhone, formatted, money } from './text.ts'

/** The content of a bubble. */
export function contentOf(message: Message): Child[] {
  const { type, content } = message
  if (message.deletedAt) return [el('p', { class: 'still with-icon' }, icon('trash', 15), deletedText)]
  switch (type) {
    case 'text':
      return [el('p', { class: 'words' }, ...formatted(textAt(content, 'body')))]
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
      return card ? cardView(card, message) : [noteView(`Template ${textAt(content, 'name')}`)]
    }
    case 'button':
      return [el('p', { class: 'words' }, textAt(content, 'text'))]
    case 'interactive':
      return message.direction === 'out' ? cardView(interactiveCard(content), message) : responseView(content)
    case 'request_welcome':
      return [noteView('Opened the chat for the first time')]
    default:
      return [noteView(`Message type: ${textAt(content, 'type') || type}`)]
  }
}

const deletedText = 'This message was deleted'

type Summarized = Pick<Message, 'type' | 'content' | 'direction' | 'deletedAt'>

/** A message as one line, for a quote or the network log. */
export function summaryOf({ type, content, direction, deletedAt }: Summarized): string {
  if (deletedAt) return deletedText
  const text =
    (type === 'template' && templateCard(content)?.body) ||
    textAt(content, 'body') ||
    textAt(content, 'caption') ||
    textAt(content, 'body', 'text') ||
    textAt(content, 'text') ||
    textAt(content, 'button_reply', 'title') ||
    textAt(content, 'list_reply', 'title') ||
    textAt(content, 'message', 'text', 'body') ||
    permissionText(content) ||
    textAt(content, 'name') ||
    textAt(content, 'filename')
  // Removes the marks for bold, italic and strikethrough.
  if (text) return text.replaceAll(/(?<!\w)[*_~](\S(?:[^*_~\n]*\S)?)[*_~](?!\w)/g, '$1')
  if (type === 'interactive' && direction === 'in') return 'Form submission'
  return typeNames[type] ?? type
}

const typeNames: Record<string, string> = {
  image: 'Photo',
  video: 'Video',
  audio: 'Voice message',
  sticker: 'Sticker',
  document: 'Document',
  location: 'Location',
  contacts: 'Contact',
  order: 'Order',
  edit: 'Edited message',
  revoke: 'Deleted message',
  request_welcome: 'Opened the chat',
}

/** The answer to a call permission request. */
function permissionText(content: unknown): string {
  const response = textAt(content, 'call_permission_reply', 'response')
  return response && (response === 'accept' ? 'Calls allowed' : 'Calls not allowed')
}

function mediaContent(type: MediaKind, content: unknown, message: Message): Child[] {
  const caption = textAt(content, 'caption')
  return [
    mediaView(type, isObject(content) ? content : {}, message),
    caption && el('p', { class: 'words' }, ...formatted(caption)),
  ]
}

function contactView(contact: unknown): Child {
  const name = textAt(contact, 'name', 'formatted_name') || 'Phone number'
  const phones = listAt(contact, 'phones')
    .map((phone) => textAt(phone, 'phone'))
    // Without a plus sign it may be a local number.
    .map((phone) => (phone.startsWith('+') ? formatPhone(phone) : phone))
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
    note && el('p', { class: 'words' }, ...formatted(note)),
  ]
}

function responseView(content: unknown): Child[] {
  const chosen =
    textAt(content, 'button_reply', 'title') || textAt(content, 'list_reply', 'title') || permissionText(content)
  if (chosen) {
    const more = textAt(content, 'list_reply', 'description')
    return [el('p', { class: 'words' }, chosen), more && el('p', { class: 'card-footer' }, more)]
  }
  const response = parsed(textAt(content, 'nfm_reply', 'response_json'))
  if (!isObject(response)) return [noteView('Form submission (invalid JSON)')]
  const lines = Object.entries(response).filter(
    ([name, value]) => name !== 'flow_token' && value !== '' && value !== null,
  )
  return [
    el('strong', { class: 'order-title' }, icon('form', 18), 'Form submitted'),
    el(
      'dl',
      { class: 'answers' },
      lines.map(([name, value]) => [el('dt', {}, name.replaceAll('_', ' ')), el('dd', {}, responseValue(value))]),
    ),
  ]
}

function responseValue(value: unknown): Child {
  if (!Array.isArray(value)) return typeof value === 'boolean' ? (value ? 'Yes' : 'No') : textOf(value)
  if (value.length === 0) return 'None'
  return value.map((one) => {
    const id = textAt(one, 'id')
    const name = textAt(one, 'file_name') || 'file'
    // An encrypted file has no media ID, and only the app has its keys.
    if (!id || !isObject(one)) return el('span', { class: 'chip' }, textAt(one, 'file_name') || textOf(one))
    if (textAt(one, 'mime_type').startsWith('image/'))
      return el('img', { class: 'thumb', src: mediaUrl(id), alt: name })
    return el('a', { class: 'chip', href: mediaUrl(id), download: name }, name)
  })
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const noteView = (text: string): HTMLElement => el('p', { class: 'still' }, text)
