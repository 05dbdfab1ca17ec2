/** Past messages, which WhatsApp sends in chunks when a number of the WhatsApp Business app is connected. */
import type { MessageStatus } from '@parley/contract/message'
import { type JsonObject, readNumber, readObject, readPhone } from '../read-json.ts'
import { type EchoItem, readEcho } from './echo.ts'
import { contactsIn, type FindContact, type InboundItem, readMessage } from './message.ts'
import { type Change, readEach, type WebhookSource } from './unread.ts'

export interface HistoryChunk extends WebhookSource {
  kind: 'history'
  phase: number | null
  chunkOrder: number | null
  progress: number | null
  messages: PastMessage[]
}

/** A message and, if the business sent it, its status. */
export interface PastMessage {
  item: InboundItem | EchoItem
  status: MessageStatus | null
}

const statuses: ReadonlyMap<unknown, MessageStatus> = new Map([
  ['PENDING', 'sent'],
  ['SENT', 'sent'],
  ['DELIVERED', 'delivered'],
  ['READ', 'read'],
  ['PLAYED', 'read'],
  ['ERROR', 'failed'],
])

export function readHistory(change: Change): HistoryChunk[] {
  const { value, wabaId, phoneNumberId, unread } = change
  if (phoneNumberId === null) return []
  const source: WebhookSource = { wabaId, phoneNumberId }
  const contactOf = contactsIn(value)
  const chunks = readEach(value, 'history', unread, (each, path): HistoryChunk | null => {
    const chunk = readObject(each)
    if (chunk === null || !Array.isArray(chunk.threads)) return null
    const { phase, chunk_order, progress } = readObject(chunk.metadata) ?? {}
    const messages = readInto(chunk, 'threads', path, unread, (thread, at) => {
      const { id: person } = readObject(thread) ?? {}
      const read = (message: unknown) => readPast(message, person, source, change, contactOf)
      return readInto(readObject(thread) ?? {}, 'messages', at, unread, read)
    }).flat()
    return {
      kind: 'history',
      ...source,
      phase: readInteger(phase),
      chunkOrder: readInteger(chunk_order),
      progress: readInteger(progress),
      messages,
    }
  })
  // The files of messages that came as `media_placeholder` follow as messages of their own.
  const files = readEach(value, 'messages', unread, (message) => readPast(message, null, source, change, contactOf))
  if (files.length === 0) return chunks
  return [...chunks, { kind: 'history', ...source, phase: null, chunkOrder: null, progress: null, messages: files }]
}

/** Like `readEach`, for a list inside of others. */
function readInto<Item>(
  value: JsonObject,
  list: string,
  path: string,
  unread: string[],
  read: (item: unknown, path: string) => Item | null,
): Item[] {
  const inner: string[] = []
  const items = readEach(value, list, inner, (each, at) => read(each, `${path}.${at}`))
  unread.push(...inner.map((at) => `${path}.${at}`))
  return items
}

/** `person` names the thread. Without it, a message with a recipient is one of the business. */
function readPast(value: unknown, person: unknown, source: WebhookSource, { now }: Change, contactOf: FindContact) {
  const message = readObject(value)
  if (message === null) return null
  const names = [message.from, message.from_user_id].filter(Boolean).map(idOf)
  const isByPerson = person === null ? message.to == null : names.includes(idOf(person))
  // Without the number of the business it may be a message of either.
  if (person !== null && !isByPerson && !message.from) return null
  const status = statuses.get(readObject(message.history_context)?.status) ?? null
  if (!isByPerson) {
    const echo = person === null ? message : { ...message, to: person }
    const item = readEcho(echo, contactOf, source, now, { source: 'business_app', standby: false })
    return item && { item, status }
  }
  const item = readMessage(message, contactOf, source, now)
  return item?.kind === 'message' ? { item, status: null } : null
}

const idOf = (person: unknown): unknown => readPhone(person) ?? person

function readInteger(value: unknown): number | null {
  const number = readNumber(value)
  return number !== null && Number.isInteger(number) && Math.abs(number) < 2 ** 31 ? number : null
}
