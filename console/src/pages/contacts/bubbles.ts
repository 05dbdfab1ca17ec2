import type { ContactSender, ConversationMessage } from '@parley/contract/console/contacts'
import { type Bubble, requestBubble } from '../../lib/bubble.ts'
import { plainWord } from '../../lib/format.ts'
import { answersOf } from '../../parts/answers.ts'
import { removedText } from '../../parts/removed-text.ts'

/** What a message of a conversation looks like on a phone: edited and deleted, as the contact sees it. */
export function conversationBubble(message: ConversationMessage): Bubble {
  const removed = removedText(message)
  if (removed !== null) return { body: removed }
  if (message.deletion) return { body: '_This message was deleted._' }
  const original = originalBubble(message)
  return message.edit ? { ...original, body: message.edit.text } : original
}

/** The texts of a message before it was edited or deleted, oldest first. */
export function earlierTexts(message: ConversationMessage): string[] {
  const { edit, deletion } = message
  if (removedText(message) !== null || (!edit && !deletion)) return []
  const texts = [originalBubble(message).body || message.type, ...(edit && deletion ? [edit.text] : [])]
  return texts.filter((text) => text !== null)
}

const originalBubble = (message: ConversationMessage): Bubble =>
  message.request ? requestBubble(message.request, message.components) : receivedBubble(message)

function receivedBubble({ type, received, form, preview }: ConversationMessage): Bubble {
  if (form) return formBubble(form)
  if (!received) return { body: preview ?? type }
  const { media, location, order, contacts, text, reaction, edit, deletion } = received
  if (order) return { header: { kind: 'text', text: 'Order' }, body: orderText(order) }
  if (media) return { header: { kind: 'media', type, detail: media.filename ?? media.mime_type }, body: text }
  if (location) return { location, body: text }
  if (contacts) return { header: { kind: 'text', text: 'Contact card' }, body: contacts.map(contactText).join('\n') }
  if (reaction) return { body: reaction.emoji === null ? 'Removed a reaction' : `Reacted ${reaction.emoji}` }
  if (edit) return { header: { kind: 'text', text: 'Edited an earlier message' }, body: edit.text }
  if (deletion) return { body: '_Deleted an earlier message._' }
  return { body: text || (type === 'unsupported' ? unsupportedText(received.unsupported) : type) }
}

function unsupportedText(unsupported: Received['unsupported']): string {
  switch (unsupported?.type) {
    case 'request_welcome':
      return '_Opened the chat._'
    case 'call_permission_reply':
      return unsupported.content?.['response'] === 'accept' ? '_Allowed you to call._' : '_Did not allow you to call._'
    case 'payment_method':
      return '_Chose how to pay._'
    default:
      return 'A message type that WhatsApp does not deliver to businesses, such as a poll.'
  }
}

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

/** An edit or a deletion, which is shown in the message that it changed. */
export const isChange = ({ received }: ConversationMessage): boolean =>
  received?.edit != null || received?.deletion != null

/**
 * The latest reactions by message, and the messages except reactions, edits and deletions. Those are always newer than
 * their message, so they are loaded whenever it is.
 */
export function withReactions(oldestFirst: readonly ConversationMessage[]): {
  shown: ConversationMessage[]
  reactions: ReadonlyMap<string, Reaction[]>
} {
  const loaded = new Set(oldestFirst.map(({ id }) => id))
  const reactions = new Map<string, Reaction[]>()
  const shown = oldestFirst.filter((message) => {
    if (message.about === null || !loaded.has(message.about.id)) return true
    if (isChange(message)) return false
    const emoji = emojiOf(message)
    if (emoji === undefined) return true
    if (message.status === 'failed') return true
    const isOurs = message.direction === 'sent'
    const others = (reactions.get(message.about.id) ?? []).filter((each) => each.isOurs !== isOurs)
    reactions.set(message.about.id, emoji === null ? others : [...others, { emoji, isOurs }])
    return false
  })
  return { shown, reactions }
}

/** A line between messages: who handles the conversation from then on. */
export interface ControlLine {
  at: string
  text: string
}

/** The last change of control of each sender, oldest first. */
export const controlLines = (senders: readonly ContactSender[]): ControlLine[] =>
  senders
    .flatMap(({ control }) => (control ? [{ at: control.at, text: controlText(control) }] : []))
    .sort((left, right) => left.at.localeCompare(right.at))

function controlText({ change, previous_owner, new_owner }: NonNullable<ContactSender['control']>): string {
  const from = previous_owner === null ? '' : ` from ${ownerName(previous_owner)}`
  const to = new_owner === null ? '' : ` ${change === 'taken' ? 'by' : 'to'} ${ownerName(new_owner)}`
  return `Conversation ${change}${from}${to}`
}

/** WhatsApp names an owner by a role or by the ID of an app. */
export const ownerName = (owner: string): string => (/^\d+$/.test(owner) ? `app ${owner}` : plainWord(owner))

/** The lines between a message and the one after it. Null is the beginning of what is loaded, or the end. */
export const linesBetween = (
  lines: readonly ControlLine[],
  before: ConversationMessage | null,
  after: ConversationMessage | null,
): ControlLine[] =>
  before === null ? [] : lines.filter(({ at }) => at > before.at && (after === null || at <= after.at))
