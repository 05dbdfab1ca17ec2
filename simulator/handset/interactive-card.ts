import { type Card, type CardButton, emptyCard, type Header, type Section } from './card.ts'
import { listAt, objectAt, textAt } from './json.ts'
import { business } from './state.ts'

/** An interactive message as the phone shows it. */
export function interactiveCard(content: unknown): Card {
  let replies = 0
  return cardOf(content, () => replies++)
}

/** The position of a reply counts all replies of the message, including those of carousel cards. */
function cardOf(content: unknown, nextPosition: () => number): Card {
  const card = emptyCard()
  const header = headerOf(content)
  if (header) card.header = header
  card.body = textAt(content, 'body', 'text')
  card.footer = textAt(content, 'footer', 'text')
  card.buttons = buttonsOf(content, nextPosition)
  if (textAt(content, 'type') === 'carousel')
    card.cards = listAt(content, 'action', 'cards').map((one) => cardOf(one, nextPosition))
  return card
}

function headerOf(content: unknown): Header | undefined {
  const kind = textAt(content, 'header', 'type')
  if (kind === 'text') return { kind, text: textAt(content, 'header', 'text') }
  if (kind === 'image' || kind === 'video' || kind === 'document')
    return { kind, file: objectAt(content, 'header', kind) }
  return undefined
}

function buttonsOf(content: unknown, nextPosition: () => number): CardButton[] {
  const action = objectAt(content, 'action')
  const parameters = objectAt(action, 'parameters')
  switch (textAt(content, 'type')) {
    case 'button':
      return listAt(action, 'buttons').map((button) => ({
        kind: 'reply',
        label: textAt(button, 'reply', 'title'),
        position: nextPosition(),
      }))
    case 'list':
      return [{ kind: 'list', label: textAt(action, 'button'), sections: sectionsOf(action) }]
    case 'cta_url':
      // A carousel card has this type with quick replies too.
      if (listAt(action, 'buttons').length > 0)
        return listAt(action, 'buttons').map((button) => ({
          kind: 'reply',
          label: textAt(button, 'quick_reply', 'title'),
          position: nextPosition(),
        }))
      return [{ kind: 'url', label: textAt(parameters, 'display_text'), url: textAt(parameters, 'url') }]
    case 'flow':
      return [
        {
          kind: 'form',
          label: textAt(parameters, 'flow_cta'),
          flow: textAt(parameters, 'flow_id') || textAt(parameters, 'flow_name'),
          screen: textAt(parameters, 'flow_action_payload', 'screen'),
          data: objectAt(parameters, 'flow_action_payload', 'data'),
        },
      ]
    case 'location_request_message':
      return [{ kind: 'location', label: 'Send location' }]
    case 'contact_request':
    case 'request_contact_info':
      return [{ kind: 'contact', label: 'Share phone number' }]
    case 'voice_call':
      return [
        {
          kind: 'call',
          label: textAt(parameters, 'display_text') || 'Call now',
          number: business()?.phoneNumber ?? '',
        },
      ]
    case 'call_permission_request':
      return [
        { kind: 'permission', label: 'Allow calls', response: 'accept' },
        { kind: 'permission', label: 'Don’t allow', response: 'reject' },
      ]
    case 'product':
      return [{ kind: 'products', label: 'View item', skus: [textAt(action, 'product_retailer_id')] }]
    case 'product_list':
      return [{ kind: 'products', label: 'View items', skus: skusOf(action) }]
    case 'catalog_message':
      return [{ kind: 'products', label: 'View catalog', skus: [] }]
    case 'carousel':
      return []
    default:
      // A carousel card has no type, only a URL.
      return textAt(parameters, 'url')
        ? [{ kind: 'url', label: textAt(parameters, 'display_text'), url: textAt(parameters, 'url') }]
        : [{ kind: 'disabled', label: textAt(content, 'type').replaceAll('_', ' ') || 'Open' }]
  }
}

function sectionsOf(action: unknown): Section[] {
  let position = 0
  return listAt(action, 'sections').map((section) => ({
    title: textAt(section, 'title'),
    rows: listAt(section, 'rows').map((row) => ({
      title: textAt(row, 'title'),
      description: textAt(row, 'description'),
      position: position++,
    })),
  }))
}

const skusOf = (action: unknown): string[] =>
  listAt(action, 'sections')
    .flatMap((section) => listAt(section, 'product_items'))
    .map((item) => textAt(item, 'product_retailer_id'))
