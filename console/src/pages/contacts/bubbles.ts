import type { ConversationMessage } from '@parley/contract/console/contacts'
import { type Bubble, requestBubble } from '../../lib/bubble.ts'
import { answersOf } from '../../parts/answers.ts'
import { removedText } from '../../parts/removed-content.tsx'

/** What a message of a conversation looks like on a phone. */
export function conversationBubble(message: ConversationMessage): Bubble {
  const removed = removedText(message)
  if (removed !== null) return { body: removed }
  if (message.request) return requestBubble(message.request, message.components)
  return receivedBubble(message)
}

function receivedBubble({ type, received, form, preview }: ConversationMessage): Bubble {
  if (form) return formBubble(form)
  if (!received) return { body: preview ?? type }
  const { media, location, order, contacts, text, reaction } = received
  if (order) return { header: { kind: 'text', text: 'Order' }, body: orderText(order) }
  if (media) return { header: { kind: 'media', type, detail: media.filename ?? media.mime_type }, body: text }
  if (location) return { location, body: text }
  if (contacts) return { header: { kind: 'text', text: 'Contact card' }, body: contacts.map(contactText).join('\n') }
  if (reaction) return { body: reaction.emoji === null ? 'Removed a reaction' : `Reacted ${reaction.emoji}` }
  return { body: text || (type === 'unsupported' ? unsupported : type) }
}

const unsupported = 'A message type that WhatsApp does not deliver to businesses, such as an edit or a poll.'

function formBubble({ response }: NonNullable<ConversationMessage['form']>): Bubble {
  const lines = answersOf(response)
    .filter(({ isFiles }) => !isFiles)
    .map(({ name, text }) => `${name}: ${text}`)
  return { header: { kind: 'text', text: 'Form submission' }, body: lines.join('\n') || null }
}

type Received = NonNullable<ConversationMessage['received']>

function orderText({ items, text }: NonNullable<Received['order']>): string {
  const lines = items.map(({ product_retailer_id, quantity, item_price, currency }) => {
    const price = item_price === null ? '' : ` · ${item_price} ${currency ?? ''}`.trimEnd()
    return `${quantity ?? '?'} × ${product_retailer_id}${price}`
  })
  return [...lines, text].filter(Boolean).join('\n')
}

const contactText = ({ name, phones }: NonNullable<Received['contacts']>[number]): string =>
  [name ?? 'No name', ...phones.map(({ phone, wa_id }) => phone ?? (wa_id && `+${wa_id}`))].filter(Boolean).join(' · ')

/** A reaction that is shown below the message it belongs to. */
export interface Reaction {
  emoji: string
  isOurs: boolean
}

/** The emoji of a reaction; null if it was removed, and undefined for any other message. */
function emojiOf({ request, received }: ConversationMessage): string | null | undefined {
  if (received?.reaction) return received.reaction.emoji
  if (request?.['type'] !== 'reaction') return undefined
  return (request['reaction'] as { emoji?: string } | undefined)?.emoji || null
}

/**
 * The latest reactions by message, and the messages without those that are only a reaction to one of them. A reaction is always
 * newer than its message, so those of a loaded message are loaded too.
 */
export function withReactions(oldestFirst: readonly ConversationMessage[]): {
  shown: ConversationMessage[]
  reactions: ReadonlyMap<string, Reaction[]>
} {
  const loaded = new Set(oldestFirst.map(({ id }) => id))
  const reactions = new Map<string, Reaction[]>()
  const shown = oldestFirst.filter((message) => {
    const emoji = emojiOf(message)
    if (emoji === undefined || message.about === null || !loaded.has(message.about.id)) return true
    if (message.status === 'failed') return true
    const isOurs = message.direction === 'sent'
    const others = (reactions.get(message.about.id) ?? []).filter((each) => each.isOurs !== isOurs)
    reactions.set(message.about.id, emoji === null ? others : [...others, { emoji, isOurs }])
    return false
  })
  return { shown, reactions }
}
