import type { MessageError, MessagePricing } from '@parley/contract/events'
import { readDecimal } from '../../lib/decimal.ts'
import type { TracedWebhook } from '../../telemetry/tracing.ts'
import { readNetworkError, unknownError } from '../graph/network-error.ts'
import { type JsonObject, readArray, readId, readObject, readPhone, readText, readTime } from '../read-json.ts'
import type { NetworkStatus } from './status-rank.ts'
import type { WebhookSource } from './unread.ts'

/** A status of a message that was sent from one of our numbers, possibly by another app. */
export interface StatusItem extends WebhookSource {
  kind: 'status'
  waMessageId: string
  status: NetworkStatus
  /** A voice message was played. It counts as `read`. */
  played: boolean
  occurredAt: Date
  recipient: string | null
  recipientUserId: string | null
  /** In a group, each member has their own status. */
  participant: string | null
  error: MessageError | null
  pricing: MessagePricing | null
  bizOpaqueCallbackData: string | null
  /** The webhook that it came with, if that is traced. */
  webhook?: TracedWebhook
}

const statuses: ReadonlyMap<unknown, NetworkStatus> = new Map([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'read'],
  ['played', 'read'],
  ['failed', 'failed'],
])

/** Null if it is no status of a message. */
export function readStatus(value: unknown, source: WebhookSource, now: Date): StatusItem | null {
  const report = readObject(value)
  // The status of a payment, which can also be `failed`, is not about the message.
  if (report === null || report.type === 'payment') return null
  const name = readId(report.status, 64)
  const status = statuses.get(name)
  const waMessageId = readId(report.id)
  if (status === undefined || waMessageId === null) return null
  return {
    kind: 'status',
    ...source,
    waMessageId,
    status,
    played: name === 'played',
    occurredAt: readTime(report.timestamp) ?? now,
    recipient: readPhone(report.recipient_id),
    recipientUserId: readId(report.recipient_user_id),
    participant: readId(report.recipient_participant_user_id) ?? readId(report.recipient_participant_id),
    error: status === 'failed' ? (readNetworkError(readArray(report.errors)[0]) ?? unknownError) : null,
    pricing: readPricing(readObject(report.pricing)),
    bizOpaqueCallbackData: readText(report.biz_opaque_callback_data, 512),
  }
}

/** Older payloads have no price type; some have it as `pricing_type`. */
function readPricing(pricing: JsonObject | null): MessagePricing | null {
  const category = readId(pricing?.category, 64)
  const type = readId(pricing?.type, 64) ?? readId(pricing?.pricing_type, 64)
  const model = readId(pricing?.pricing_model, 64)
  const billable = typeof pricing?.billable === 'boolean' ? pricing.billable : null
  const cost = readCost(readObject(pricing?.cost))
  const says = [category, type, model, billable, cost].some((each) => each !== null)
  return says ? { category, type, model, billable, cost } : null
}

function readCost(cost: JsonObject | null): MessagePricing['cost'] {
  const amount = readDecimal(cost?.amount)
  return amount === null ? null : { amount, currency: readId(cost?.currency, 32) }
}
