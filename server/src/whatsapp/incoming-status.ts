import type { MessageError } from '@parley/contract/events'
import { type Ignored, ignored, type Place } from './ignored.ts'
import { readNetworkError, unknownError } from './network-error.ts'
import { readArray, readId, readObject, readPhone, readText, readTime } from './read-json.ts'
import type { NetworkStatus } from './status-rank.ts'

/** The network's word on a message that some app sent from one of our numbers; perhaps not us. */
export interface StatusItem extends Place {
  kind: 'status'
  waMessageId: string
  status: NetworkStatus
  /** A voice message was played: for us that is `read`, which it implies. */
  played: boolean
  occurredAt: Date
  recipient: string | null
  recipientUserId: string | null
  /** In a group each member has a status of their own. */
  participant: string | null
  error: MessageError | null
  bizOpaqueCallbackData: string | null
}

const meanings: ReadonlyMap<unknown, NetworkStatus> = new Map([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'read'],
  ['played', 'read'],
  ['failed', 'failed'],
])

export function readStatus(value: unknown, place: Place, now: Date): StatusItem | Ignored {
  const report = readObject(value)
  if (report === null) return ignored('malformed', place, 'statuses')
  const word = readId(report.status, 64)
  // A payment may be `failed` too, and says nothing about the message.
  if (report.type === 'payment') return ignored('payment_status', place, word)
  const status = meanings.get(word)
  if (status === undefined) return ignored('unknown_status', place, word)
  const waMessageId = readId(report.id)
  if (waMessageId === null) return ignored('no_message_id', place, word)
  return {
    kind: 'status',
    ...place,
    waMessageId,
    status,
    played: word === 'played',
    occurredAt: readTime(report.timestamp) ?? now,
    recipient: readPhone(report.recipient_id),
    recipientUserId: readId(report.recipient_user_id),
    participant: readId(report.recipient_participant_user_id) ?? readId(report.recipient_participant_id),
    error: status === 'failed' ? (readNetworkError(readArray(report.errors)[0]) ?? unknownError) : null,
    bizOpaqueCallbackData: readText(report.biz_opaque_callback_data, 512),
  }
}
