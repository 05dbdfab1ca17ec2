import type { MessageError } from '@parley/contract/events'
import { readNetworkError } from '../graph/network-error.ts'
import { type JsonObject, readArray, readId, readObject } from '../read-json.ts'
import { type Notice, readChange, type TemplateChange } from './change.ts'
import { type Ignored, ignored, type WebhookSource } from './ignored.ts'
import { type InboundItem, readMessage } from './message.ts'
import { type PreferenceItem, readPreferences } from './preference.ts'
import { readStatus, type StatusItem } from './status.ts'
import type { UserIdChange } from './system.ts'

/** An error that WhatsApp reports for a number and not for a message. */
interface Problem extends WebhookSource {
  kind: 'problem'
  error: MessageError
}

export type Incoming =
  | InboundItem
  | StatusItem
  | UserIdChange
  | TemplateChange
  | Notice
  | PreferenceItem
  | Problem
  | Ignored

/**
 * Converts a webhook to our types. A webhook may mix accounts, numbers, messages and statuses. Each part is parsed
 * separately, so an invalid part does not affect the others. Accepts any JSON value and never throws.
 */
export function readWebhook(body: unknown, now: Date): Incoming[] {
  const webhook = readObject(body)
  if (webhook?.object !== 'whatsapp_business_account') {
    return [ignored('not_whatsapp', {}, readId(webhook?.object, 64))]
  }
  return readArray(webhook.entry).flatMap((entry) => readEntry(readObject(entry), now))
}

/** One change with messages, statuses or preferences, as a separate webhook that `readWebhook` accepts. */
export interface SplitChange {
  wabaId: string
  phoneNumberId: string
  webhook: string
}

/**
 * Splits a webhook, to store the parts that cannot be published yet. Parts without an account or a number are skipped.
 */
export function splitWebhook(body: unknown): SplitChange[] {
  const { object, entry: entries } = readObject(body) ?? {}
  return readArray(entries).flatMap((each) => {
    const entry = readObject(each)
    const wabaId = readId(entry?.id)
    if (entry === null || wabaId === null) return []
    return readArray(entry.changes).flatMap((item) => {
      const change = readObject(item)
      const phoneNumberId = readId(readObject(readObject(change?.value)?.metadata)?.phone_number_id)
      const field = readId(change?.field, 128)
      if (phoneNumberId === null || (field !== 'messages' && field !== 'user_preferences')) return []
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
    if (field === 'messages') return readConversation(value, wabaId, now)
    if (field === 'user_preferences') return readPreferences(value, wabaId, now)
    return [readChange(field, value, wabaId, entry.time, now)]
  })
}

function readConversation(value: JsonObject, wabaId: string | null, now: Date): Incoming[] {
  const phoneNumberId = readId(readObject(value.metadata)?.phone_number_id)
  if (phoneNumberId === null) return [ignored('no_number', { wabaId }, 'messages')]
  const source: WebhookSource = { wabaId, phoneNumberId }
  const contacts = readArray(value.contacts)
    .map(readObject)
    .filter((contact) => contact !== null)
  return [
    ...readArray(value.messages).map((message) => readMessage(message, contacts, source, now)),
    ...readArray(value.statuses).map((status) => readStatus(status, source, now)),
    ...readArray(value.errors).map((error) => readProblem(error, source)),
  ]
}

function readProblem(value: unknown, source: WebhookSource): Problem | Ignored {
  const error = readNetworkError(value)
  return error === null ? ignored('malformed', source, 'errors') : { kind: 'problem', ...source, error }
}
