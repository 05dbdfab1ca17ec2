/** Webhooks about the account itself: its templates, its numbers, its status. */
import { templateStatuses } from '@parley/contract/template'
import { cleanJson, type JsonObject, readId, readNonBlank, readObject, readPhone } from '../read-json.ts'

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

/** A notice about the account, one of its numbers or a form. It has only the formatted number, not its ID. */
export interface Notice {
  kind: 'notice'
  about: 'account' | 'number' | 'form'
  wabaId: string
  field: string
  event: string | null
  displayPhoneNumber: string | null
  value: JsonObject
  occurredAt: Date
}

export function templateChange(
  change: TemplateChange['change'],
  value: JsonObject,
  wabaId: string,
  occurredAt: Date,
): TemplateChange {
  const reason = readNonBlank(value.reason, 2000)
  const category = change === 'category' ? value.new_category : value.message_template_category
  return {
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
    occurredAt,
  }
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

export function notice(
  about: Notice['about'],
  field: string,
  value: JsonObject,
  wabaId: string,
  occurredAt: Date,
): Notice {
  // Only some account notices name a number, and they have it in another field.
  const phoneNumber = value.display_phone_number ?? value.phone_number
  // A notice for a partner has the partner's own business ID; the ID of the account is inside.
  const accountId = readId(readObject(value.waba_info)?.waba_id) ?? wabaId
  return {
    kind: 'notice',
    about,
    wabaId: accountId,
    field,
    event: readId(value.event, 128) ?? readId(value.decision, 128),
    displayPhoneNumber: readPhone(phoneNumber) ?? readNonBlank(phoneNumber, 64),
    value: readObject(cleanJson(value, 4096)) ?? {},
    occurredAt,
  }
}
