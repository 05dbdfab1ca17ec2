import { performAction } from './actions.ts'
import type { Message } from './api.ts'
import type { Card, CardButton, Header } from './card.ts'
import { openCatalog } from './catalog-sheet.ts'
import { button, type Child, el } from './dom.ts'
import { openForm } from './form-sheet.ts'
import { type IconName, icon } from './icons.ts'
import { openList } from './list-sheet.ts'
import { openLocation } from './location-sheet.ts'
import { placeCard } from './map.ts'
import { mediaView } from './media.ts'
import { state } from './state.ts'
import { externalLink, formatPhone, formatted } from './text.ts'
import { copyText, toast } from './toast.ts'

/** Renders a card with its buttons. */
export function cardView(card: Card, message: Message): Child[] {
  return [
    card.header && headerView(card.header, message),
    card.body && el('p', { class: 'words' }, ...formatted(card.body)),
    card.footer && el('p', { class: 'card-footer' }, card.footer),
    card.cards.length > 0 &&
      el(
        'div',
        { class: 'carousel', role: 'group', 'aria-label': `${card.cards.length} cards`, tabindex: '0' },
        card.cards.map((one) => el('div', { class: 'slide' }, ...cardView(one, message))),
      ),
    card.buttons.length > 0 &&
      el(
        'div',
        { class: 'card-buttons' },
        card.buttons.map((one) => buttonView(one, message)),
      ),
  ]
}

function headerView(header: Header, message: Message): HTMLElement {
  if (header.kind === 'text') return el('p', { class: 'card-title' }, header.text)
  if (header.kind === 'location') return placeCard(header.place)
  return mediaView(header.kind, header.file, message)
}

const icons: Record<CardButton['kind'], IconName> = {
  reply: 'reply',
  url: 'link',
  call: 'call',
  copy: 'copy',
  form: 'form',
  list: 'list',
  location: 'pin',
  contact: 'person',
  permission: 'call',
  products: 'bag',
  disabled: 'more',
}

function buttonView(one: CardButton, message: Message): HTMLElement {
  const drawing = icon(one.kind === 'reply' && isChosen(one.label, message) ? 'check' : icons[one.kind], 17)
  if (one.kind === 'url') return externalLink(one.url, one.label, 'card-button', drawing)
  return button(
    { class: 'card-button', disabled: one.kind === 'disabled' },
    () => press(one, message),
    drawing,
    one.label,
  )
}

function press(one: CardButton, message: Message): void {
  switch (one.kind) {
    case 'reply':
      void performAction('tap', { message: message.id, button: one.position }, one.label)
      break
    case 'list':
      openList(one.label, one.sections, message)
      break
    case 'form':
      openForm(one, message)
      break
    case 'location':
      openLocation(message.id)
      break
    case 'contact':
      void performAction('sharePhone', { to: message.numberId, message: message.id }, 'Phone number')
      break
    case 'permission':
      void performAction('callPermission', { message: message.id, response: one.response }, one.label)
      break
    case 'products':
      openCatalog(one.skus)
      break
    case 'copy':
      void copyText(one.code, `Copied ${one.code}`)
      break
    case 'call':
      toast(`A real phone would now call ${formatPhone(one.number)}.`)
      break
  }
}

/** True if this button was tapped. */
function isChosen(label: string, message: Message): boolean {
  return [...state.messages.values()].some(({ direction, contextId, content }) => {
    if (direction !== 'in' || contextId !== message.id) return false
    const { text, button_reply: reply } = content as { text?: string; button_reply?: { title?: string } }
    return text === label || reply?.title === label
  })
}
