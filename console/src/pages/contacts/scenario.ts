import type { ConversationMessage } from '@parley/contract/console/contacts'
import { redactFilename, redactText, redactValue } from '@parley/simulator/phones/redact'
import { newScenario, type Scenario, type ScenarioMessage } from '@parley/simulator/phones/scenario-file'
import { requestBubble } from '../../lib/bubble.ts'
import { answersOf } from '../../parts/answers.ts'

type Json = Record<string, unknown>
type Action = { action: string; input: Json }
type Received = NonNullable<ConversationMessage['received']>

/**
 * A conversation with one sender as a scenario for tests, the same as the handset saves. Messages that the phone does not show, that
 * people of the business wrote, or whose content was removed are left out. Files become samples.
 */
export function conversationScenario(
  oldestFirst: readonly ConversationMessage[],
  senderId: string,
  withContents: boolean,
): Scenario {
  const actionOf = newActions(withContents)
  const chat = oldestFirst.flatMap((message): ScenarioMessage<string>[] => {
    const { id, at, type, direction, sender_id, group_id, removed } = message
    if (sender_id !== senderId || group_id !== null || removed) return []
    if (direction === 'sent')
      return isShown(message) ? [{ id, at, from: 'business', type, text: shownText(message) }] : []
    const done = actionOf(message)
    return done ? [{ id, at, from: 'person', ...done }] : []
  })
  return newScenario(chat, withContents)
}

const isShown = ({ source, status }: ConversationMessage): boolean =>
  source === null && (status === 'delivered' || status === 'read')

/** What the person reads: the text, the caption, or the body of an interactive message or of a template. */
function shownText({ type, request, components }: ConversationMessage): string | null {
  if (!request || type === 'contacts' || type === 'reaction' || (type === 'template' && !components)) return null
  return requestBubble(request, components).body || null
}

/** Turns messages of the person back into the actions of the simulator that send them. Null if none does. */
function newActions(withContents: boolean): (message: ConversationMessage) => Action | null {
  const words = (text: string) => (withContents ? text : redactText(text))
  const value = (one: unknown) => (withContents ? one : redactValue(one))
  const textOf = (text: string | null, name: string): Json => (text ? { [name]: words(text) } : {})
  const fileOf = (mimeType: string, filename: string | null): Json => ({
    mimeType,
    ...(filename !== null && { filename: withContents ? filename : redactFilename(filename) }),
  })

  const formOf = ({ response, files }: NonNullable<ConversationMessage['form']>): Json => {
    const isFiles = new Set(answersOf(response).flatMap(({ name, isFiles: is }) => (is ? [name] : [])))
    const values = Object.entries(response ?? {}).filter(([name]) => name !== 'flow_token' && !isFiles.has(name))
    const fields = [...new Set(files.map(({ field }) => field))]
    const filesOf = (name: string) => files.filter(({ field }) => field === name)
    return {
      values: Object.fromEntries(values.map(([name, one]) => [name, value(one)])),
      ...(files.length > 0 && {
        files: Object.fromEntries(
          fields.map((field) => [field, filesOf(field).map((file) => fileOf(file.mime_type, file.file_name))]),
        ),
      }),
    }
  }

  const written = (type: string, received: Received, quoted: Json): Action | null => {
    const { text, media, location, contacts, order } = received
    if (media) {
      const input = { ...quoted, ...fileOf(media.mime_type, media.filename), ...textOf(media.caption, 'caption') }
      return { action: media.voice ? 'voice' : type, input }
    }
    if (location) {
      const { latitude, longitude, name, address, url } = location
      const place = { ...textOf(name, 'name'), ...textOf(address, 'address'), ...textOf(url, 'url') }
      const [lat, long] = withContents ? [latitude, longitude] : [0, 0]
      return { action: 'location', input: { ...quoted, latitude: lat, longitude: long, ...place } }
    }
    if (contacts) return { action: 'contacts', input: { ...quoted, contacts: contacts.map(cardOf).map(value) } }
    if (order)
      return { action: 'order', input: { ...quoted, ...orderOf(order, withContents), ...textOf(order.text, 'text') } }
    return type === 'text' && text ? { action: 'say', input: { ...quoted, text: words(text) } } : null
  }

  const unsupported = ({ type, content }: NonNullable<Received['unsupported']>, target: Json): Action => {
    if (type === 'request_welcome') return { action: 'welcome', input: {} }
    if (type === 'call_permission_reply') {
      const automatic = content?.response_source === 'automatic' ? { automatic: true } : {}
      return { action: 'callPermission', input: { ...target, response: content?.response, ...automatic } }
    }
    if (type !== null && content !== null) return { action: 'invent', input: { type, content: value(content) } }
    return { action: 'unsupported', input: { kind: type ?? 'unknown' } }
  }

  return ({ type, received, form, about }) => {
    if (!received) return null
    const target: Json = about ? { message: about.id } : {}
    const { edit, deletion, reaction, reply } = received
    if (form) return { action: 'fillForm', input: { ...target, ...formOf(form) } }
    if (edit) return edit.text ? { action: 'edit', input: { ...target, text: words(edit.text) } } : null
    if (deletion) return { action: 'delete', input: target }
    if (reaction?.emoji) return { action: 'react', input: { ...target, emoji: reaction.emoji } }
    if (reaction) return { action: 'unreact', input: target }
    // The ID, which a bot reads. The label may be a word of the person.
    if (reply) return { action: 'tap', input: { ...target, button: reply.id } }
    if (received.contacts?.[0]?.origin === 'contact_request') return { action: 'sharePhone', input: target }
    if (received.unsupported) return unsupported(received.unsupported, target)
    return written(type, received, about ? { replyTo: about.id } : {})
  }
}

/** A contact card in the format of WhatsApp. */
function cardOf({ name, phones, emails, org, addresses, urls, birthday }: NonNullable<Received['contacts']>[number]) {
  const card = { name: { formatted_name: name }, phones, emails, org, addresses, urls, birthday }
  const isEmpty = (one: unknown) => one === null || (Array.isArray(one) && one.length === 0)
  return JSON.parse(JSON.stringify(card, (_, one: unknown) => (isEmpty(one) ? undefined : one))) as Json
}

const orderOf = ({ catalog_id, items }: NonNullable<Received['order']>, withContents: boolean): Json => ({
  ...(catalog_id !== null && { catalogId: catalog_id }),
  items: items.map(({ product_retailer_id, quantity, item_price, currency }) => ({
    retailerId: product_retailer_id,
    ...(quantity !== null && { quantity: withContents ? quantity : 1 }),
    ...(item_price !== null && { price: withContents ? item_price : 0 }),
    ...(currency !== null && { currency }),
  })),
})
