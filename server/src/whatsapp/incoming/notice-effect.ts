/** The immediate changes of a notice about an account or a number. The sync that follows fetches the complete state. */

import { type JsonObject, readArray, readId, readNonBlank, readObject, readTime } from '../read-json.ts'

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

type AccountStatus = 'ACTIVE' | 'FLAGGED' | 'RESTRICTED' | 'BANNED' | 'DISCONNECTED' | 'DELETED'

export interface AccountEffect {
  about: 'account'
  status: AccountStatus
  reason: string | null
  /** When a restriction ends. */
  until: Date | null
  /** The status that its numbers get. `CONNECTED` applies to numbers that an earlier notice blocked. Null: no change. */
  senderStatus: 'CONNECTED' | 'RESTRICTED' | 'BANNED' | 'DISCONNECTED' | null
}

/** Fields that are left out do not change. */
export interface NumberEffect {
  about: 'number'
  qualityRating?: string
  displayName?: string | null
  throughput?: string
  reason: string | null
}

/**
 * Null if the notice changes nothing that we store. `number` is the only number that it changes, null for the account and
 * all of its numbers.
 */
export function noticeEffect(notice: Notice): ((AccountEffect | NumberEffect) & { number: string | null }) | null {
  const effect = effects.get(notice.field)?.(notice) ?? null
  return effect && { ...effect, number: numberOf(notice) }
}

/** Its digits, or the network's ID of it. */
function numberOf({ displayPhoneNumber, value }: Notice): string | null {
  const digits = displayPhoneNumber?.replace(/\D/g, '') ?? ''
  if (digits !== '') return digits
  return readId(value.phone_number_id) ?? (value.entity_type === 'PHONE_NUMBER' ? readId(value.entity_id) : null)
}

type EffectOf = (notice: Notice) => AccountEffect | NumberEffect | null

const effects: ReadonlyMap<string, EffectOf> = new Map<string, EffectOf>([
  ['account_update', accountUpdate],
  ['account_review_update', accountReview],
  ['account_alerts', accountAlert],
  ['phone_number_quality_update', qualityUpdate],
  ['phone_number_name_update', nameUpdate],
])

function accountReview(notice: Notice): AccountEffect | null {
  return notice.event === 'REJECTED' ? warning(notice, 'WhatsApp rejected the account in its review.') : null
}

function accountUpdate(notice: Notice): AccountEffect | null {
  const { value } = notice
  switch (notice.event) {
    case 'DISABLED_UPDATE':
      return banUpdate(notice)
    case 'ACCOUNT_VIOLATION': {
      const type = readNonBlank(readObject(value.violation_info)?.violation_type, 200)
      return warning(notice, `WhatsApp reports a policy violation${type === null ? '' : `: ${type}`}.`)
    }
    case 'ACCOUNT_RESTRICTION':
      return restriction(notice)
    case 'ACCOUNT_DELETED':
      return blocked('DELETED', 'DISCONNECTED', 'The account was deleted at WhatsApp.')
    case 'ACCOUNT_OFFBOARDED':
    case 'PARTNER_REMOVED': {
      const what = numberOf(notice) === null ? 'account' : 'number'
      return blocked('DISCONNECTED', 'DISCONNECTED', `The ${what} was disconnected from this app.`)
    }
    case 'ACCOUNT_RECONNECTED':
      return active
    default:
      return null
  }
}

function banUpdate({ value }: Notice): AccountEffect | null {
  const ban = readObject(value.ban_info)
  const date = readNonBlank(ban?.waba_ban_date, 64)
  const on = date === null ? '' : ` on ${date}`
  switch (readId(ban?.waba_ban_state, 64)) {
    case 'DISABLE':
      return blocked('BANNED', 'BANNED', `WhatsApp disabled the account${on}.`)
    case 'SCHEDULE_FOR_DISABLE':
      return flagged(`WhatsApp will disable the account${on}.`)
    case 'REINSTATE':
      return active
    default:
      return null
  }
}

const messagingRestrictions: ReadonlySet<string> = new Set([
  'RESTRICTED_BIZ_INITIATED_MESSAGING',
  'RESTRICTED_CUSTOMER_INITIATED_MESSAGING',
])

/** Some restrictions concern messages, others for example adding numbers. */
function restriction({ value }: Notice): AccountEffect | null {
  const given = readArray(value.restriction_info).map(readObject)
  const restrictions = given.flatMap((each) => {
    const type = readId(each?.restriction_type, 128)
    return type === null ? [] : [{ type, until: readTime(each?.expiration) }]
  })
  if (restrictions.length === 0) return null
  const forMessages = restrictions.filter(({ type }) => messagingRestrictions.has(type))
  const relevant = forMessages.length > 0 ? forMessages : restrictions
  const ends = relevant.map(({ until }) => until?.getTime() ?? Number.POSITIVE_INFINITY)
  const end = Math.max(...ends)
  const reason = `WhatsApp restricted the account: ${relevant.map(({ type }) => type).join(', ')}.`
  const until = Number.isFinite(end) ? new Date(end) : null
  return forMessages.length > 0
    ? { ...blocked('RESTRICTED', 'RESTRICTED', reason), until }
    : { ...flagged(reason), until }
}

function accountAlert(notice: Notice): AccountEffect | null {
  const alert = readObject(notice.value.alert_info) ?? notice.value
  if (readId(alert.alert_severity, 64) === 'INFORMATIONAL') return null
  const text = readNonBlank(alert.alert_description, 500) ?? readNonBlank(alert.alert_type, 200)
  return text === null ? null : warning(notice, `Alert from WhatsApp: ${text}`)
}

function qualityUpdate({ event }: Notice): NumberEffect | null {
  switch (event) {
    case 'FLAGGED':
      return { about: 'number', qualityRating: 'RED', reason: 'WhatsApp flagged the number for low quality.' }
    case 'UNFLAGGED':
      return { about: 'number', reason: null }
    case 'THROUGHPUT_UPGRADE':
      return { about: 'number', throughput: 'HIGH', reason: null }
    default:
      return null
  }
}

function nameUpdate({ event, value }: Notice): NumberEffect | null {
  const name = readNonBlank(value.requested_verified_name, 512)
  if (event === 'APPROVED') return { about: 'number', displayName: name, reason: null }
  if (event !== 'REJECTED') return null
  const why = readNonBlank(value.rejection_reason, 200)
  const cause = why === null || why === 'NONE' ? '' : `: ${why}`
  return { about: 'number', reason: `WhatsApp rejected the display name “${name ?? ''}”${cause}.` }
}

const active: AccountEffect = {
  about: 'account',
  status: 'ACTIVE',
  reason: null,
  until: null,
  senderStatus: 'CONNECTED',
}

const flagged = (reason: string): AccountEffect => ({
  about: 'account',
  status: 'FLAGGED',
  reason,
  until: null,
  senderStatus: null,
})

const warningMs = 7 * 24 * 3_600_000

/** No notice ends a warning, so it is shown for a week. */
const warning = ({ occurredAt }: Notice, reason: string): AccountEffect => ({
  ...flagged(reason),
  until: new Date(occurredAt.getTime() + warningMs),
})

const blocked = (
  status: AccountStatus,
  senderStatus: AccountEffect['senderStatus'],
  reason: string,
): AccountEffect => ({ about: 'account', status, reason, until: null, senderStatus })
