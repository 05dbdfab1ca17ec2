import type { MessageError } from '@parley/contract/events'
import type { UpdateOutcome } from '@parley/contract/network-update'
import { readNetworkError } from '../graph/network-error.ts'
import { type JsonObject, readId, readObject } from '../read-json.ts'
import { noticeReader, type TemplateChange, templateReader } from './change.ts'
import { readType } from './content.ts'
import { type EchoItem, type EchoOrigin, readEcho } from './echo.ts'
import { type HandoverItem, readHandover } from './handover.ts'
import { type HistoryChunk, readHistory } from './history.ts'
import { type Known, unreadIn, unused } from './known.ts'
import * as known from './known-members.ts'
import { contactsIn, type InboundItem, readMessage } from './message.ts'
import type { Notice } from './notice-effect.ts'
import { type PreferenceItem, readPreferences } from './preference.ts'
import { readSavedContacts, type SavedContactItem } from './saved-contact.ts'
import { readStatus, type StatusItem } from './status.ts'
import type { UserIdChange } from './system.ts'
import { type Change, readEach, type UnreadChange, unreadMax, type WebhookSource } from './unread.ts'

/** An error that WhatsApp reports for a number and not for a message. */
interface Problem extends WebhookSource {
  kind: 'problem'
  error: MessageError
}

/** A part of a webhook that was read. */
type ReadItem =
  | InboundItem
  | EchoItem
  | StatusItem
  | UserIdChange
  | HandoverItem
  | HistoryChunk
  | SavedContactItem
  | TemplateChange
  | Notice
  | PreferenceItem
  | Problem

export type Incoming = ReadItem | UnreadChange

/** How the changes of a field are read. */
interface FieldReader {
  /** The members that `read` makes use of. */
  known: Known
  /** The change is a notice. If it was not read completely, it is stored with the outcome `notice`. */
  isNotice?: true
  read(change: Change): ReadItem[]
}

/**
 * Raise it when a field or a member is added below, in a reader or in `known-members.ts`: stored updates of earlier
 * interpretations are then read again.
 */
export const interpretation = 2

export const fieldReaders: ReadonlyMap<string, FieldReader> = new Map<string, FieldReader>([
  ['messages', { known: known.messages, read: (change) => readConversation(change) }],
  ['standby', { known: known.standby, read: readStandby }],
  ['smb_message_echoes', { known: known.messageEchoes, read: echoReader('business_app') }],
  ['message_echoes', { known: known.messageEchoes, read: echoReader('other') }],
  ['messaging_handovers', { known: known.handover, read: readHandover }],
  ['history', { known: known.history, read: (change) => [...readHistory(change), ...readProblems(change)] }],
  ['smb_app_state_sync', { known: known.stateSync, read: readSavedContacts }],
  ['user_preferences', { known: known.userPreferences, read: readPreferences }],
  ['message_template_status_update', notice(known.templateStatus, templateReader('status'))],
  ['message_template_quality_update', notice(known.templateQuality, templateReader('quality'))],
  ['message_template_components_update', notice(known.templateComponents, templateReader('components'))],
  ['template_category_update', notice(known.templateCategory, templateReader('category'))],
  ['account_update', notice(known.accountUpdate, noticeReader('account'))],
  ['account_review_update', notice(known.accountReview, noticeReader('account'))],
  ['account_alerts', notice(known.accountAlert, noticeReader('account'))],
  // Parley does not apply these.
  ['account_settings_update', notice(unused, noticeReader('account'))],
  ['business_capability_update', notice(unused, noticeReader('account'))],
  ['security', notice(unused, noticeReader('account'))],
  ['phone_number_quality_update', notice(known.numberQuality, noticeReader('number'))],
  ['phone_number_name_update', notice(known.numberName, noticeReader('number'))],
  ['flows', notice(unused, noticeReader('form'))],
])

function notice(known: Known, read: FieldReader['read']): FieldReader {
  return { known, isNotice: true, read }
}

/**
 * Converts a webhook to our types. A webhook may mix accounts, numbers, messages and statuses. Each part is parsed
 * separately, so an invalid part does not affect the others. A change that was not read completely gives one more item, of
 * the kind `unread`. Accepts any JSON value and never throws. Tests pass other readers.
 */
export function readWebhook(body: unknown, now: Date, readers = fieldReaders): Incoming[] {
  const webhook = readObject(body)
  if (!isForWhatsApp(webhook)) return [unreadAt(null, null, null)]
  return webhook.entry.flatMap((entry, index) => readEntry(readObject(entry), index, now, readers))
}

/** Whether it is a webhook of WhatsApp, with a list of entries. */
export const isForWhatsApp = (body: JsonObject | null): body is JsonObject & { entry: unknown[] } =>
  body?.object === 'whatsapp_business_account' && Array.isArray(body.entry)

function readEntry(entry: JsonObject | null, index: number, now: Date, readers: typeof fieldReaders): Incoming[] {
  const wabaId = readId(entry?.id)
  if (entry === null || !Array.isArray(entry.changes)) return [unreadAt(wabaId, index, null)]
  return entry.changes.flatMap((item, position): Incoming[] => {
    const change = readObject(item)
    const value = readObject(change?.value)
    const field = readId(change?.field, 128)
    if (value === null || field === null) {
      return [{ ...unreadAt(wabaId, index, position), field: field ?? unknownField }]
    }
    const reader = readers.get(field)
    // A notice is not routed by a number: it is about the account.
    const phoneNumberId = reader?.isNotice ? null : readNumberId(value)
    const unread: string[] = []
    const items = reader?.read({ field, value, wabaId, phoneNumberId, time: entry.time, now, unread }) ?? []
    if (reader !== undefined) unread.push(...unreadIn(value, reader.known))
    if (items.length > 0 && unread.length === 0) return items
    const outcome = reader === undefined ? 'unknown_field' : outcomeOf(reader, items)
    const paths = [...new Set(unread)].slice(0, unreadMax)
    // A notice for a partner names the account itself.
    const account = items[0]?.wabaId ?? wabaId
    return [...items, { ...unreadAt(account, index, position), field, phoneNumberId, outcome, paths }]
  })
}

const unknownField = 'unknown'

const unreadAt = (wabaId: string | null, entry: number | null, change: number | null): UnreadChange => ({
  kind: 'unread',
  outcome: 'not_understood',
  field: unknownField,
  wabaId,
  phoneNumberId: null,
  entry,
  change,
  paths: [],
})

/** The outcome of a change that was not read completely. */
function outcomeOf({ isNotice }: FieldReader, items: readonly ReadItem[]): UpdateOutcome {
  if (items.length === 0) return 'not_understood'
  return isNotice || items.every(({ kind }) => kind === 'problem') ? 'notice' : 'partly_understood'
}

/** The account that a notice for a partner names: the entry has the partner's own business ID. */
export const readAccountId = (value: JsonObject): string | null => readId(readObject(value.waba_info)?.waba_id)

/** The ID of the number that a change is about. Most fields have it in `metadata`. */
export const readNumberId = (value: JsonObject): string | null =>
  readId(readObject(value.metadata)?.phone_number_id) ??
  readId(readObject(value.recipient)?.phone_number_id) ??
  readId(value.phone_number_id)

function readConversation(change: Change, standby = false): ReadItem[] {
  const { value, wabaId, phoneNumberId, now, unread } = change
  if (phoneNumberId === null) return []
  const source: WebhookSource = { wabaId, phoneNumberId }
  const contactOf = contactsIn(value)
  const readWithContent = (each: unknown, path: string) => {
    const item = readMessage(each, contactOf, source, now, standby)
    if (item?.kind === 'message' && item.unsupported !== null) unread.push(...unsupportedContent(each, path))
    return item
  }
  return [
    ...readEach(value, 'messages', unread, readWithContent),
    ...readEach(value, 'statuses', unread, (each) => readStatus(each, source, now)),
    ...readProblems(change),
  ]
}

/** Updates for an app that only listens, because another app or an agent of Meta handles the conversation. */
function readStandby({ value, unread, ...change }: Change): ReadItem[] {
  const inner = { ...change, value: readObject(value.standby) ?? {}, unread: [] as string[] }
  const items = [...readConversation(inner, true), ...readEchoes(inner, { source: 'agent', standby: true })]
  for (const path of inner.unread) unread.push(`standby.${path}`)
  return items
}

function echoReader(source: EchoOrigin['source']): FieldReader['read'] {
  return (change) => readEchoes(change, { source, standby: false })
}

function readEchoes({ value, wabaId, phoneNumberId, now, unread }: Change, origin: EchoOrigin): EchoItem[] {
  if (phoneNumberId === null) return []
  const contactOf = contactsIn(value)
  return readEach(value, 'message_echoes', unread, (each, path) => {
    const item = readEcho(each, contactOf, { wabaId, phoneNumberId }, now, origin)
    if (item?.unsupported) unread.push(...unsupportedContent(each, path))
    return item
  })
}

function readProblems({ value, wabaId, phoneNumberId, unread }: Change): Problem[] {
  if (phoneNumberId === null) return []
  return readEach(value, 'errors', unread, (each, path): Problem | null => {
    const error = readNetworkError(each)
    // It is only logged, so the change is also stored.
    if (error !== null) unread.push(path)
    return error && { kind: 'problem', wabaId, phoneNumberId, error }
  })
}

/** Types that are passed on completely, as the content of an unsupported message. */
const passedOn: ReadonlySet<string> = new Set(['unsupported', 'edit', 'revoke', 'request_welcome'])
const interactivePassedOn: ReadonlySet<unknown> = new Set(['call_permission_reply', 'payment_method'])

/** The content of an unknown type, or of a known type that could not be read. */
function unsupportedContent(message: unknown, path: string): string[] {
  const content = readObject(message) ?? {}
  const type = readType(content)
  if (type === null || passedOn.has(type) || content[type] == null) return []
  const inner = type === 'interactive' ? readObject(content.interactive) : null
  return inner && interactivePassedOn.has(inner.type) ? [] : [`${path}.${type}`]
}
