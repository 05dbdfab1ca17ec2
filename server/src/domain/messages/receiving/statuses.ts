import type { MessageStatusData } from '@parley/contract/events'
import type { Static } from 'typebox'
import { databaseNow } from '../../../db/database-clock.ts'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { withoutPrefix, withPrefix } from '../../../lib/ids.ts'
import type { StatusItem } from '../../../whatsapp/incoming-status.ts'
import { statusEffect } from '../../../whatsapp/status-rank.ts'
import { refund } from '../../credits/credits.ts'
import { publish } from '../../deliveries/engine/publish.ts'
import type { Destination } from '../../senders/senders.ts'
import { dropFromOutbox } from '../sending/outbox.sql.ts'
import {
  deleteEarlyBefore,
  type EarlyStatus,
  insertEarly,
  insertStatuses,
  lockMessages,
  type MessageProgress,
  type TrackedMessage,
  takeMatchedEarly,
  updateProgress,
} from './statuses.sql.ts'

/** The network's word on a message that one of our numbers sent, or ours where we had to give it up. */
export interface Report extends Omit<EarlyStatus, 'waMessageId'> {
  /** Null where the network did not take the message. */
  waMessageId: string | null
  /** Our own id of the message, where the network gave it back. */
  messageId: string | null
  /** It comes from the sending of the message: it counts only while nothing else is known. */
  fromSending?: boolean
}

export function toReport(item: StatusItem, { senderId, workspaceId }: Destination): Report {
  const { waMessageId, status, occurredAt, error, bizOpaqueCallbackData } = item
  const messageId = withoutPrefix('msg', bizOpaqueCallbackData ?? '') ?? null
  return { senderId, workspaceId, waMessageId, status, occurredAt, error, messageId }
}

/**
 * Records statuses and publishes an event for each that is new to its message. A status never goes back; one that comes
 * late only fills its time. One whose message is not known yet is kept for when it is. The first word on a message settles
 * its sending, and a failure gives its credits back. Run within a transaction.
 */
export async function saveStatuses(db: Db, now: Date, reports: readonly Report[]): Promise<void> {
  if (reports.length === 0) return
  const tracked = await lockMessages(db, reports)
  const byWaId = new Map(tracked.flatMap((each) => (each.waMessageId ? [[waKeyOf(each), each]] : [])))
  const byId = new Map(tracked.map((each) => [each.id, each]))
  const matched = Map.groupBy(reports, (report) => byWaId.get(waKeyOf(report)) ?? byId.get(report.messageId ?? ''))
  const early = (matched.get(undefined) ?? []).filter((report): report is Report & EarlyStatus => !!report.waMessageId)
  if (early.length > 0) await insertEarly(db, early, now)
  const changes = [...matched].flatMap(([message, own]) => (message ? [advance(message, own)] : []))
  const fresh = changes.flatMap(({ message, fresh: own }) => own.map((report) => ({ message, report })))
  if (fresh.length === 0) return
  await insertStatuses(
    db,
    fresh.map(({ message, report }) => ({ ...report, messageId: message.id, workspaceId: message.workspaceId })),
  )
  await updateProgress(
    db,
    changes.filter((change) => change.fresh.length > 0).map(({ standing }) => standing),
  )
  const settled = changes.filter(({ message, fresh: own }) => message.status === 'queued' && own.length > 0)
  if (settled.length > 0) {
    await dropFromOutbox(
      db,
      settled.map(({ message }) => message.id),
    )
  }
  const failed = fresh.filter(({ report }) => report.status === 'failed')
  await refund(
    db,
    now,
    failed.map(({ message }) => ({ workspaceId: message.workspaceId, messageId: message.id })),
  )
  const events = fresh.map(({ message, report }) => ({
    workspaceId: message.workspaceId,
    type: `message.${report.status}` as const,
    data: toData(message, report),
  }))
  await publish(db, now, events)
}

/** Statuses that came before their message was known, once it is; and none kept for ever. */
export async function applyEarlyStatuses(db: Db, clock: Clock): Promise<void> {
  const now = await databaseNow(db, clock)
  await db.transaction(async (tx) => {
    const matched = await takeMatchedEarly(tx, 1000)
    await saveStatuses(
      tx,
      now,
      matched.map((early) => ({ ...early, messageId: null })),
    )
  })
  await deleteEarlyBefore(db, new Date(now.getTime() - 7 * 24 * 3_600_000))
}

interface Change {
  message: TrackedMessage
  standing: MessageProgress
  /** Those that this message had not had yet. */
  fresh: Report[]
}

const waKeyOf = ({ senderId, waMessageId }: { senderId: string; waMessageId: string | null }) =>
  `${senderId} ${waMessageId}`

function advance(message: TrackedMessage, reports: readonly Report[]): Change {
  const known = new Set(message.known)
  const fresh: Report[] = []
  let { status, sentAt } = message
  // As they happened, not as they came.
  for (const report of [...reports].sort((left, right) => left.occurredAt.getTime() - right.occurredAt.getTime())) {
    const effect = statusEffect(status, report.status)
    if (effect === 'none' || known.has(report.status)) continue
    if (report.fromSending && report.status === 'failed' && status !== 'queued') continue
    known.add(report.status)
    const occurredAt = inOrder(report, sentAt, message.followedAt)
    if (report.status === 'sent') sentAt = occurredAt
    fresh.push({ ...report, occurredAt })
    if (effect === 'advance') status = report.status
  }
  const at = (wanted: Report['status']) => fresh.find((report) => report.status === wanted)?.occurredAt ?? null
  const standing = {
    id: message.id,
    status,
    waMessageId: reports.find((report) => report.waMessageId !== null)?.waMessageId ?? null,
    sentAt: at('sent'),
    deliveredAt: at('delivered'),
    readAt: at('read'),
    failedAt: at('failed'),
    error: fresh.find((report) => report.status === 'failed')?.error ?? null,
  }
  return { message, standing, fresh }
}

/** The network's clock and ours may differ; what follows the sending must not seem to come before it. */
function inOrder({ status, occurredAt }: Report, sentAt: Date | null, followedAt: Date | null): Date {
  if (status === 'sent') return followedAt && followedAt < occurredAt ? followedAt : occurredAt
  return sentAt && occurredAt < sentAt ? sentAt : occurredAt
}

function toData(message: TrackedMessage, report: Report): Static<typeof MessageStatusData> {
  return {
    message_id: withPrefix('msg', message.id),
    to: message.recipient,
    status: report.status,
    wa_message_id: report.waMessageId ?? message.waMessageId,
    occurred_at: report.occurredAt.toISOString(),
    error: report.error,
  }
}
