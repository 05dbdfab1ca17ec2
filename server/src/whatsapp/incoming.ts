import type { MessageError } from '@parley/contract/events'
import { type Ignored, ignored, type Place } from './ignored.ts'
import { type Notice, readChange, type TemplateChange } from './incoming-change.ts'
import { type InboundItem, readMessage } from './incoming-message.ts'
import { readStatus, type StatusItem } from './incoming-status.ts'
import { readNetworkError } from './network-error.ts'
import { type JsonObject, readArray, readId, readObject } from './read-json.ts'

/** The network reports an error that belongs to a number but to no message. */
export interface Problem extends Place {
  kind: 'problem'
  error: MessageError
}

export type Incoming = InboundItem | StatusItem | TemplateChange | Notice | Problem | Ignored

/**
 * The network's words → ours. One webhook may mix accounts, numbers, messages and statuses; each piece is read on its
 * own, so a broken one never costs its neighbours. Takes any JSON value and never throws.
 */
export function readWebhook(body: unknown, now: Date): Incoming[] {
  const webhook = readObject(body)
  if (webhook?.object !== 'whatsapp_business_account') {
    return [ignored('not_whatsapp', {}, readId(webhook?.object, 64))]
  }
  return readArray(webhook.entry).flatMap((entry) => readEntry(readObject(entry), now))
}

/** One change about messages or statuses, as a webhook of its own that `readWebhook` reads. */
export interface SplitChange {
  wabaId: string
  phoneNumberId: string
  webhook: string
}

/** Takes a webhook apart, to store what cannot be published yet. What names no account or no number is left out. */
export function splitWebhook(body: unknown): SplitChange[] {
  const { object, entry: entries } = readObject(body) ?? {}
  return readArray(entries).flatMap((each) => {
    const entry = readObject(each)
    const wabaId = readId(entry?.id)
    if (entry === null || wabaId === null) return []
    return readArray(entry.changes).flatMap((item) => {
      const change = readObject(item)
      const phoneNumberId = readId(readObject(readObject(change?.value)?.metadata)?.phone_number_id)
      if (phoneNumberId === null || readId(change?.field, 128) !== 'messages') return []
      const webhook = JSON.stringify({ object, entry: [{ id: entry.id, time: entry.time, changes: [change] }] })
      return [{ wabaId, phoneNumberId, webhook }]
    })
  })
}

function readEntry(entry: JsonObject | null, now: Date): Incoming[] {
  const wabaId = readId(entry?.id)
  if (entry === null) return [ignored('malformed', {}, 'entry')]
  return readArray(entry.changes).flatMap((item): Incoming[] => {
    const change = readObject(item)
    const value = readObject(change?.value)
    if (change === null || value === null) return [ignored('malformed', { wabaId }, 'changes')]
    const field = readId(change.field, 128)
    return field === 'messages'
      ? readConversation(value, wabaId, now)
      : [readChange(field, value, wabaId, entry.time, now)]
  })
}

function readConversation(value: JsonObject, wabaId: string | null, now: Date): Incoming[] {
  const phoneNumberId = readId(readObject(value.metadata)?.phone_number_id)
  if (phoneNumberId === null) return [ignored('no_number', { wabaId }, 'messages')]
  const place: Place = { wabaId, phoneNumberId }
  const contacts = readArray(value.contacts)
    .map(readObject)
    .filter((contact) => contact !== null)
  return [
    ...readArray(value.messages).map((message) => readMessage(message, contacts, place, now)),
    ...readArray(value.statuses).map((status) => readStatus(status, place, now)),
    ...readArray(value.errors).map((error) => readProblem(error, place)),
  ]
}

function readProblem(value: unknown, place: Place): Problem | Ignored {
  const error = readNetworkError(value)
  return error === null ? ignored('malformed', place, 'errors') : { kind: 'problem', ...place, error }
}
