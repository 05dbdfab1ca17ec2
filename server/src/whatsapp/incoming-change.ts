/** What the network tells about the account itself: its templates, its numbers, its standing. */
import { type Ignored, ignored } from './ignored.ts'
import { cleanJson, type JsonObject, readId, readObject, readPhone, readTime, readWords } from './read-json.ts'

/** Something about a template changed. What is null did not change; the list of templates has the whole truth. */
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
  reason: string | null
  occurredAt: Date
}

/** News about the account, one of its numbers or a form. The network names the number only as people write it. */
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

const templateFields: ReadonlyMap<unknown, TemplateChange['change']> = new Map([
  ['message_template_status_update', 'status'],
  ['message_template_quality_update', 'quality'],
  ['message_template_components_update', 'components'],
  ['template_category_update', 'category'],
])

const noticeFields: ReadonlyMap<unknown, Notice['about']> = new Map([
  ['account_update', 'account'],
  ['account_review_update', 'account'],
  ['account_alerts', 'account'],
  ['account_settings_update', 'account'],
  ['business_capability_update', 'account'],
  ['security', 'account'],
  ['phone_number_quality_update', 'number'],
  ['phone_number_name_update', 'number'],
  ['flows', 'form'],
])

/** Copies of messages that passed elsewhere: sent from the phone app, old ones, or handled by another agent. */
const notInboundFields: ReadonlySet<unknown> = new Set([
  'smb_message_echoes',
  'message_echoes',
  'history',
  'smb_app_state_sync',
  'standby',
])

export function readChange(
  field: string | null,
  value: JsonObject,
  wabaId: string | null,
  time: unknown,
  now: Date,
): TemplateChange | Notice | Ignored {
  if (wabaId === null) return ignored('malformed', {}, field)
  const occurredAt = readTime(time) ?? now
  const change = templateFields.get(field)
  if (change !== undefined) return templateChange(change, value, wabaId, occurredAt)
  const about = noticeFields.get(field)
  if (about !== undefined && field !== null) return notice(about, field, value, wabaId, occurredAt)
  return ignored(notInboundFields.has(field) ? 'not_inbound' : 'unknown_field', { wabaId }, field)
}

function templateChange(
  change: TemplateChange['change'],
  value: JsonObject,
  wabaId: string,
  occurredAt: Date,
): TemplateChange {
  const reason = readWords(readObject(value.rejection_info)?.reason, 2000) ?? readWords(value.reason, 2000)
  const category = change === 'category' ? value.new_category : value.message_template_category
  return {
    kind: 'template',
    wabaId,
    change,
    networkTemplateId: readId(value.message_template_id),
    name: readId(value.message_template_name, 512),
    // Webhooks have been seen with a hyphen where the list has an underscore.
    language: readId(value.message_template_language, 35)?.replace('-', '_') ?? null,
    status: change === 'status' ? statusAfter(readId(value.event, 64)) : null,
    category: readId(category, 64),
    quality: change === 'quality' ? readId(value.new_quality_score, 64) : null,
    reason: reason === 'NONE' ? null : reason,
    occurredAt,
  }
}

/** An event names what happened; a status is what the template then is. A flagged template can still be sent. */
function statusAfter(event: string | null): string | null {
  if (event === 'REINSTATED' || event === 'UNARCHIVED' || event === 'UNPAUSED') return 'APPROVED'
  return event === 'FLAGGED' ? null : event
}

function notice(about: Notice['about'], field: string, value: JsonObject, wabaId: string, occurredAt: Date): Notice {
  // A partner's notice comes under the partner's own business; the account it speaks of is inside.
  const accountId = readId(readObject(value.waba_info)?.waba_id) ?? wabaId
  return {
    kind: 'notice',
    about,
    wabaId: accountId,
    field,
    event: readId(value.event, 128) ?? readId(value.decision, 128),
    displayPhoneNumber: readPhone(value.display_phone_number) ?? readWords(value.display_phone_number, 64),
    value: readObject(cleanJson(value, 4096)) ?? {},
    occurredAt,
  }
}
