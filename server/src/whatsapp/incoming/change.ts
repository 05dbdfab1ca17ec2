/** Webhooks about the account itself: its templates, its numbers, its status. */
import { templateStatuses } from '@parley/contract/template'
import { cleanJson, type JsonObject, readId, readNonBlank, readObject, readPhone, readTime } from '../read-json.ts'
import { type Notice, noticeEffect } from './notice-effect.ts'
import type { Change } from './unread.ts'

/** A change of a template. Null fields did not change; the list of templates has the complete state. */
export interface TemplateChange {
  kind: 'template'
  wabaId: string
  change: 'status' | 'quality' | 'components' | 'category'
  networkTemplateId: string | null
  name: string | null
  language: string | null
  status: string | null
  category: string | null
  quality: string | null
  /** A code such as `INVALID_FORMAT`. */
  rejectedReason: string | null
  /** Why it has its status, in words. */
  statusInfo: { reason: string | null; recommendation: string | null } | null
  occurredAt: Date
}

/** The reader of a field about templates. A change without an account cannot be read. */
export const templateReader =
  (change: TemplateChange['change']) =>
  ({ value, wabaId, time, now, unread }: Change): TemplateChange[] => {
    if (wabaId === null) return []
    const reason = readNonBlank(value.reason, 2000)
    const category = change === 'category' ? value.new_category : value.message_template_category
    const item: TemplateChange = {
      kind: 'template',
      wabaId,
      change,
      networkTemplateId: readId(value.message_template_id),
      name: readId(value.message_template_name, 512),
      // Some webhooks have a hyphen where the list has an underscore.
      language: readId(value.message_template_language, 35)?.replace('-', '_') ?? null,
      status: change === 'status' ? statusAfter(readId(value.event, 64)) : null,
      category: readId(category, 64),
      quality: change === 'quality' ? readId(value.new_quality_score, 64) : null,
      rejectedReason: reason === 'NONE' ? null : reason,
      statusInfo: statusInfo(value),
      occurredAt: readTime(time) ?? now,
    }
    if (item.networkTemplateId === null && item.name === null) unread.push('message_template_id')
    if (change === 'status' && item.status === null) unread.push('event')
    return [item]
  }

function statusInfo({ rejection_info, other_info }: JsonObject): TemplateChange['statusInfo'] {
  const [rejection, other] = [readObject(rejection_info), readObject(other_info)]
  const reason = readNonBlank(rejection?.reason, 2000) ?? readNonBlank(other?.description, 2000)
  const recommendation = readNonBlank(rejection?.recommendation, 2000)
  return reason === null && recommendation === null ? null : { reason, recommendation }
}

/**
 * The status of a template after an event. Not every event is a status: a FLAGGED or LOCKED template can still be sent. An
 * event that is not listed here changes nothing; the sync that follows fetches the status.
 */
function statusAfter(event: string | null): string | null {
  return statusByEvent.get(event?.toUpperCase() ?? '') ?? null
}

const statusByEvent: ReadonlyMap<string, string> = new Map([
  ...templateStatuses
    .filter((status) => status !== 'FLAGGED' && status !== 'LOCKED')
    .map((status) => [status, status] as const),
  ...['REINSTATED', 'UNARCHIVED', 'UNPAUSED'].map((event) => [event, 'APPROVED'] as const),
])

/** The reader of a field with notices. */
export const noticeReader =
  (about: Notice['about']) =>
  ({ field, value, wabaId, time, now, unread }: Change): Notice[] => {
    if (wabaId === null) return []
    // Only some account notices name a number, and they have it in another field.
    const phoneNumber = value.display_phone_number ?? value.phone_number
    // A notice for a partner has the partner's own business ID; the ID of the account is inside.
    const accountId = readId(readObject(value.waba_info)?.waba_id) ?? wabaId
    const item: Notice = {
      kind: 'notice',
      about,
      wabaId: accountId,
      field,
      event: readId(value.event, 128) ?? readId(value.decision, 128),
      displayPhoneNumber: readPhone(phoneNumber) ?? readNonBlank(phoneNumber, 64),
      value: readObject(cleanJson(value, 4096)) ?? {},
      occurredAt: readTime(time) ?? now,
    }
    const effect = noticeEffect(item)
    if (effect === null || (effect.about === 'number' && effect.number === null)) unread.push('event')
    return [item]
  }
