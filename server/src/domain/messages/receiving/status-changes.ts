/** What statuses change in the messages that they are about. Decides only: nothing is read or written here. */
import { isDeepStrictEqual } from 'node:util'
import type { MessageStatusData } from '@parley/contract/events'
import type { Static } from 'typebox'
import { withoutPrefix, withPrefix } from '../../../lib/ids.ts'
import type { TracedWebhook } from '../../../telemetry/tracing.ts'
import type { StatusItem } from '../../../whatsapp/incoming/status.ts'
import { type NetworkStatus, statusEffect } from '../../../whatsapp/incoming/status-rank.ts'
import type { Destination } from '../../senders/senders.ts'
import { isErased, networkIdOf } from '../privacy/erased.ts'
import { numberIn } from '../recipient.ts'
import type { EarlyStatus } from './early-statuses.sql.ts'
import { statusTime } from './status-times.ts'
import type { MessageProgress, TrackedMessage } from './statuses.sql.ts'

/** A status of a sent message, from the network or from the outbox. `occurredAt` is the network's time. */
export interface StatusReport extends Omit<EarlyStatus, 'waMessageId'> {
  /** Null if the network did not accept the message. */
  waMessageId: string | null
  /** Our message ID, if the network returned it. */
  messageId: string | null
  /** Set by the outbox. Such a failure counts only while the message is still queued. */
  fromSending?: boolean
  /** The webhook that it came with, if that is traced. */
  webhook?: TracedWebhook | undefined
}

export function toReport(item: StatusItem, { senderId, workspaceId }: Destination): StatusReport {
  const { waMessageId, status, occurredAt, error, bizOpaqueCallbackData, recipientUserId, pricing, webhook } = item
  const messageId = withoutPrefix('msg', bizOpaqueCallbackData ?? '') ?? null
  return { senderId, workspaceId, waMessageId, status, occurredAt, error, recipientUserId, pricing, messageId, webhook }
}

export interface Change {
  message: TrackedMessage
  /** All reports about this message. */
  reports: StatusReport[]
  progress: MessageProgress
  /** The statuses that are new to this message. */
  fresh: StatusReport[]
}

/** One change for each message that has reports, and the reports whose message was not found. */
export function changesOf(
  tracked: readonly TrackedMessage[],
  reports: readonly StatusReport[],
): { changes: Change[]; unknown: StatusReport[] } {
  const byWaId = new Map(tracked.flatMap((each) => (each.waMessageId ? [[waKeyOf(each), each]] : [])))
  const byId = new Map(tracked.map((each) => [each.id, each]))
  const matched = Map.groupBy(reports, (report) => byWaId.get(waKeyOf(report)) ?? byId.get(report.messageId ?? ''))
  return {
    changes: [...matched].flatMap(([message, reports]) => (message ? [advance(message, reports)] : [])),
    unknown: matched.get(undefined) ?? [],
  }
}

/**
 * A status that is already known can still bring the price or the user ID: the response to a send request may have
 * neither, the status `sent` that follows it does.
 */
export const hasNews = ({ message, fresh, progress: { pricing, recipientUserId } }: Change): boolean =>
  fresh.length > 0 ||
  recipientUserId !== message.recipientUserId ||
  (pricing !== null && !isDeepStrictEqual(pricing, message.pricing))

const waKeyOf = ({ senderId, waMessageId }: { senderId: string; waMessageId: string | null }) =>
  `${senderId} ${waMessageId}`

function advance(message: TrackedMessage, all: StatusReport[]): Change {
  const reports = isErased(message) ? all.map(withoutPerson) : all
  const fresh: StatusReport[] = []
  let { status } = message
  const times = { ...message.times }
  // In the order in which they occurred, not in which they arrived.
  for (const report of [...reports].sort((left, right) => left.occurredAt.getTime() - right.occurredAt.getTime())) {
    const effect = statusEffect(status, report.status)
    if (effect === 'none' || times[report.status] !== null) continue
    if (report.fromSending && report.status === 'failed' && status !== 'queued') continue
    const occurredAt = statusTime(report.status, report.occurredAt, message.createdAt, times)
    times[report.status] = occurredAt
    fresh.push({ ...report, occurredAt })
    if (effect === 'advance') status = report.status
  }
  const timeOf = (status: NetworkStatus) => fresh.find((report) => report.status === status)?.occurredAt ?? null
  const progress = {
    id: message.id,
    place: message.place,
    version: message.version,
    isFirst: message.status === 'queued' && fresh.length > 0,
    status,
    waMessageId: reports.find((report) => report.waMessageId !== null)?.waMessageId ?? null,
    recipientUserId:
      message.recipientUserId ?? reports.find((report) => report.recipientUserId !== null)?.recipientUserId ?? null,
    sentAt: timeOf('sent'),
    deliveredAt: timeOf('delivered'),
    readAt: timeOf('read'),
    failedAt: timeOf('failed'),
    error: fresh.find((report) => report.status === 'failed')?.error ?? null,
    pricing: reports.findLast((report) => report.pricing !== null)?.pricing ?? null,
  }
  return { message, reports: all, progress, fresh }
}

/** A status of a message whose person was erased must not bring back who they were. */
const withoutPerson = (report: StatusReport): StatusReport => ({
  ...report,
  waMessageId: null,
  recipientUserId: null,
  error: report.error && { ...report.error, message: '', details: null },
})

/** The data of the event of a status. */
export function toData(
  { message, progress: { recipientUserId, pricing } }: Change,
  report: StatusReport,
): Static<typeof MessageStatusData> {
  return {
    message_id: withPrefix('msg', message.id),
    to: numberIn(message.recipient),
    to_user_id: recipientUserId,
    status: report.status,
    wa_message_id: report.waMessageId ?? networkIdOf(message.waMessageId),
    occurred_at: report.occurredAt.toISOString(),
    error: report.error,
    pricing: pricing ?? message.pricing,
    reference: message.reference,
  }
}
