import { isDeepStrictEqual } from 'node:util'
import type { MessageStatusData } from '@parley/contract/events'
import type { Static } from 'typebox'
import type { Db } from '../../../db/db.ts'
import { withIndexLookups } from '../../../db/planner-settings.ts'
import { withoutPrefix, withPrefix } from '../../../lib/ids.ts'
import { isStaleTemplate } from '../../../whatsapp/errors.ts'
import type { StatusItem } from '../../../whatsapp/incoming-status.ts'
import { statusEffect } from '../../../whatsapp/status-rank.ts'
import { scheduleSyncOf } from '../../connections/connections.ts'
import { refund } from '../../credits/credits.ts'
import { publish } from '../../deliveries/engine/publish.ts'
import { type Destination, networkIdsOf } from '../../senders/senders.ts'
import { numberIn } from '../recipient.ts'
import { dropFromOutbox } from '../sending/outbox.sql.ts'
import { deleteEarly, type EarlyStatus, earlyOf, insertEarly, type MessageKey } from './early-statuses.sql.ts'
import { statusTime } from './status-times.ts'
import {
  insertStatuses,
  lockMessages,
  type MessageProgress,
  type TrackedMessage,
  updateProgress,
} from './statuses.sql.ts'

/** A status of a sent message, from the network or from the outbox. `occurredAt` is the network's time. */
export interface StatusReport extends Omit<EarlyStatus, 'waMessageId'> {
  /** Null if the network did not accept the message. */
  waMessageId: string | null
  /** Our message ID, if the network returned it. */
  messageId: string | null
  /** Set by the outbox. Such a failure counts only while the message is still queued. */
  fromSending?: boolean
}

export function toReport(item: StatusItem, { senderId, workspaceId }: Destination): StatusReport {
  const { waMessageId, status, occurredAt, error, bizOpaqueCallbackData, recipientUserId, pricing } = item
  const messageId = withoutPrefix('msg', bizOpaqueCallbackData ?? '') ?? null
  return { senderId, workspaceId, waMessageId, status, occurredAt, error, recipientUserId, pricing, messageId }
}

/**
 * Records statuses and publishes an event for each status that is new to its message. A message never goes back to an earlier
 * status; a late status only fills in its time. A status whose message is not known yet is stored until it is. The first
 * status removes the message from the outbox, and a failure refunds its credits. Run within a transaction.
 */
export async function saveStatuses(db: Db, now: Date, reports: readonly StatusReport[]): Promise<void> {
  if (reports.length === 0) return
  const changes = await saveMatched(db, now, reports)
  const named = changes.flatMap(({ message: { senderId, waMessageId }, progress }) =>
    waMessageId === null && progress.waMessageId !== null ? [{ senderId, waMessageId: progress.waMessageId }] : [],
  )
  if (named.length > 0) await applyEarly(db, now, named)
}

/** Returns the messages that were changed. */
async function saveMatched(db: Db, now: Date, reports: readonly StatusReport[]): Promise<Change[]> {
  const tracked = await lockMessages(db, reports)
  const byWaId = new Map(tracked.flatMap((each) => (each.waMessageId ? [[waKeyOf(each), each]] : [])))
  const byId = new Map(tracked.map((each) => [each.id, each]))
  const matched = Map.groupBy(reports, (report) => byWaId.get(waKeyOf(report)) ?? byId.get(report.messageId ?? ''))
  const early = (matched.get(undefined) ?? []).filter(
    (report): report is StatusReport & EarlyStatus => !!report.waMessageId,
  )
  if (early.length > 0) await insertEarly(db, early, now)
  const changes = [...matched].flatMap(([message, reports]) => (message ? [advance(message, reports)] : []))
  const fresh = changes.flatMap(({ message, progress, fresh: reports }) =>
    reports.map((report) => ({ message, progress, report })),
  )
  const changed = changes.filter(hasNews)
  if (changed.length > 0) {
    await updateProgress(
      db,
      changed.map(({ progress }) => progress),
    )
  }
  if (fresh.length === 0) return changed
  await insertStatuses(
    db,
    fresh.map(({ message, report }) => ({ ...report, messageId: message.id, workspaceId: message.workspaceId })),
  )
  const firstReports = changes.filter((change) => change.message.status === 'queued' && change.fresh.length > 0)
  if (firstReports.length > 0) {
    await dropFromOutbox(
      db,
      firstReports.map(({ message }) => message.id),
    )
  }
  const failed = fresh.filter(({ report }) => report.status === 'failed')
  await refund(
    db,
    now,
    failed.map(({ message }) => ({ workspaceId: message.workspaceId, messageId: message.id })),
  )
  await syncStaleTemplates(db, now, failed)
  const events = fresh.map(({ message, progress, report }) => ({
    workspaceId: message.workspaceId,
    type: `message.${report.status}` as const,
    data: toData(message, progress, report),
  }))
  await publish(db, now, events)
  return changed
}

/** Syncs the accounts whose templates the network rejects, in the order of their IDs, so that no two batches deadlock. */
async function syncStaleTemplates(db: Db, now: Date, failed: readonly { report: StatusReport }[]): Promise<void> {
  const stale = failed.flatMap(({ report }) => (isStaleTemplate(report.error?.code) ? [report.senderId] : []))
  const connections = await Promise.all([...new Set(stale)].map((senderId) => networkIdsOf(db, senderId)))
  const ids = new Set(connections.flatMap((each) => (each ? [each.connectionId] : [])))
  for (const id of [...ids].sort()) await scheduleSyncOf(db, now, id)
}

/** Applies the early statuses of messages whose network ID is known now. Run within a transaction. */
export async function applyEarly(db: Db, now: Date, messages: readonly MessageKey[]): Promise<void> {
  const early = await withIndexLookups(db, (tx) => earlyOf(tx, messages))
  if (early.length === 0) return
  await deleteEarly(db, early)
  await saveStatuses(
    db,
    now,
    early.map((each) => ({ ...each, messageId: null })),
  )
}

/**
 * A status that is already known can still bring the price or the user ID: the response to a send request may have
 * neither, the status `sent` that follows it does.
 */
const hasNews = ({ message, fresh, progress: { pricing, recipientUserId } }: Change): boolean =>
  fresh.length > 0 ||
  recipientUserId !== message.recipientUserId ||
  (pricing !== null && !isDeepStrictEqual(pricing, message.pricing))

interface Change {
  message: TrackedMessage
  progress: MessageProgress
  /** The statuses that are new to this message. */
  fresh: StatusReport[]
}

const waKeyOf = ({ senderId, waMessageId }: { senderId: string; waMessageId: string | null }) =>
  `${senderId} ${waMessageId}`

function advance(message: TrackedMessage, reports: readonly StatusReport[]): Change {
  const known = new Set(message.known)
  const fresh: StatusReport[] = []
  let { status } = message
  const times = { ...message.times }
  // In the order in which they occurred, not in which they arrived.
  for (const report of [...reports].sort((left, right) => left.occurredAt.getTime() - right.occurredAt.getTime())) {
    const effect = statusEffect(status, report.status)
    if (effect === 'none' || known.has(report.status)) continue
    if (report.fromSending && report.status === 'failed' && status !== 'queued') continue
    known.add(report.status)
    const occurredAt = statusTime(report.status, report.occurredAt, message.createdAt, times)
    times[report.status] = occurredAt
    fresh.push({ ...report, occurredAt })
    if (effect === 'advance') status = report.status
  }
  const timeOf = (status: StatusReport['status']) =>
    fresh.find((report) => report.status === status)?.occurredAt ?? null
  const progress = {
    id: message.id,
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
  return { message, progress, fresh }
}

function toData(
  message: TrackedMessage,
  { recipientUserId, pricing }: MessageProgress,
  report: StatusReport,
): Static<typeof MessageStatusData> {
  return {
    message_id: withPrefix('msg', message.id),
    to: numberIn(message.recipient),
    to_user_id: recipientUserId,
    status: report.status,
    wa_message_id: report.waMessageId ?? message.waMessageId,
    occurred_at: report.occurredAt.toISOString(),
    error: report.error,
    pricing: pricing ?? message.pricing,
  }
}
