import type { Db } from '../../../db/db.ts'
import { oneWithIndexLookups, withIndexLookups } from '../../../db/planner-settings.ts'
import { isStaleTemplate } from '../../../whatsapp/graph/errors.ts'
import { scheduleSyncOf } from '../../connections/connections.ts'
import { refund } from '../../credits/credits.ts'
import {
  insertEventsSql,
  type NewEvent,
  offerToWorker,
  prepareEvents,
} from '../../deliveries/engine/publish/publish.ts'
import { networkIdsOf } from '../../senders/senders.ts'
import { hasDelivery } from '../event-batch.sql.ts'
import { deleteEarly, type EarlyStatus, earlyOf, insertEarly, type MessageKey } from './early-statuses.sql.ts'
import { currentRevision } from './inbound.sql.ts'
import { RoutingChanged } from './inbound.ts'
import { type Change, changesOf, hasNews, type StatusReport, toData } from './status-changes.ts'
import { findMessages, lockMessages, saveChangesStatement } from './statuses.sql.ts'

const storeWithEvents = saveChangesStatement(insertEventsSql)

/**
 * Records statuses and publishes an event for each status that is new to its message. A message never goes back to an earlier
 * status; a late status only fills in its time. A status whose message is not known yet is stored until it is. The first
 * status removes the message from the outbox, and a failure refunds its credits. Run within a transaction.
 */
export async function saveStatuses(db: Db, now: Date, reports: readonly StatusReport[]): Promise<void> {
  if (reports.length === 0) return
  const { changes, unknown } = changesOf(await lockMessages(db, reports), reports)
  const early = unknown.filter(hasNetworkId)
  if (early.length > 0) await insertEarly(db, { early, now, onlyAt: null })
  const news = changes.filter(hasNews)
  if (news.length === 0) return
  const saved = await saveChanges(db, now, news, null)
  if (saved.size < news.length) throw new Error('a message was changed while it was locked')
  const failed = news.filter(hasFailed)
  const unpaid = failed.map(({ message: { workspaceId, id } }) => ({ workspaceId, messageId: id }))
  await refund(db, now, unpaid)
  await syncStaleTemplates(db, now, failed)
  const named = news.flatMap(({ message: { senderId, waMessageId }, progress }) =>
    waMessageId === null && progress.waMessageId !== null ? [{ senderId, waMessageId: progress.waMessageId }] : [],
  )
  if (named.length > 0) await applyEarly(db, now, named)
}

/**
 * Records statuses as `saveStatuses` does, without a transaction: reads the messages, decides, and writes in one
 * statement, which skips messages that were changed in between. Returns the reports that need a transaction: those,
 * failures, and first statuses of messages with early ones. Throws `RoutingChanged` if `onlyAt` is not the current
 * routing revision; what was stored before is not stored again.
 */
export async function savePlainStatuses(
  db: Db,
  now: Date,
  reports: readonly StatusReport[],
  onlyAt: number,
): Promise<StatusReport[]> {
  if (reports.length === 0) return []
  const { changes, unknown } = changesOf(await findMessages(db, withoutRepeats(reports)), reports)
  const news = changes.filter(hasNews)
  const plain = news.filter(isPlain)
  const save = () => oneWithIndexLookups(db, (tx) => saveChanges(tx, now, plain, onlyAt))
  const saved = plain.length === 0 ? new Set<string>() : await save()
  // A report whose message was not found by our ID may have WhatsApp's ID of another message.
  const named = unknown.filter(({ messageId }) => messageId !== null)
  const ofOtherTools = unknown.filter(({ messageId }) => messageId === null).filter(hasNetworkId)
  const early = ofOtherTools.length === 0 ? 0 : await insertEarly(db, { early: ofOtherTools, now, onlyAt })
  const rest = [...named, ...news.flatMap(({ message, reports }) => (saved.has(message.id) ? [] : reports))]
  // Fewer early statuses are stored if some were known already, or if the revision is another one.
  if (rest.length === 0 && early === ofOtherTools.length) return rest
  if ((await currentRevision(db)) !== onlyAt) throw new RoutingChanged()
  return rest
}

const hasNetworkId = (report: StatusReport): report is StatusReport & EarlyStatus => !!report.waMessageId

const hasFailed = ({ fresh }: Change): boolean => fresh.some(({ status }) => status === 'failed')

/** A plain change concerns only the message, its statuses and events: no credits, and no other ID of the network. */
const isPlain = (change: Change): boolean =>
  !hasFailed(change) && [null, change.progress.waMessageId].includes(change.message.waMessageId)

/** One report for each message: it is looked up once. */
const withoutRepeats = (reports: readonly StatusReport[]): StatusReport[] => [
  ...new Map(
    reports.map((report) => [`${report.senderId} ${report.messageId ?? report.waMessageId}`, report]),
  ).values(),
]

/** Saves changes with their events, and returns the IDs of the messages that were still as they were read. */
async function saveChanges(db: Db, now: Date, changes: readonly Change[], onlyAt: number | null): Promise<Set<string>> {
  const fresh = changes.flatMap((change) => change.fresh.map((report) => ({ change, report })))
  const events = fresh.map(
    ({ change, report }): NewEvent => ({
      workspaceId: change.message.workspaceId,
      type: `message.${report.status}`,
      data: toData(change, report),
      senderId: change.message.senderId,
      webhook: report.webhook,
    }),
  )
  const prepared = prepareEvents(db, now, events)
  const progress = changes.map((change) => change.progress)
  const statuses = fresh.map(({ change: { message }, report: { status, occurredAt, error } }) => {
    return { messageId: message.id, workspaceId: message.workspaceId, status, occurredAt, error }
  })
  const rows = await storeWithEvents(db, progress, statuses, prepared, onlyAt)
  const newIds = new Set(rows.map(({ eventId }) => eventId))
  offerToWorker(db, { ...prepared, rows: prepared.rows.filter(({ id }) => newIds.has(id)) }, rows.filter(hasDelivery))
  return new Set(rows.flatMap(({ messageId }) => messageId ?? []))
}

/** Syncs the accounts whose templates the network rejects, in the order of their IDs, so that no two batches deadlock. */
async function syncStaleTemplates(db: Db, now: Date, failed: readonly Change[]): Promise<void> {
  const stale = failed.flatMap(({ message, progress }) =>
    isStaleTemplate(progress.error?.code) ? [message.senderId] : [],
  )
  const connections = await Promise.all([...new Set(stale)].map((senderId) => networkIdsOf(db, senderId)))
  const ids = new Set(connections.flatMap((each) => (each ? [each.connectionId] : [])))
  for (const id of [...ids].sort()) await scheduleSyncOf(db, now, id)
}

/** Applies the early statuses of messages whose network ID is known now. Run within a transaction. */
export async function applyEarly(db: Db, now: Date, messages: readonly MessageKey[]): Promise<void> {
  const early = await withIndexLookups(db, (tx) => earlyOf(tx, { messages }))
  if (early.length === 0) return
  await deleteEarly(db, { early })
  const reports = early.map((each) => ({ ...each, messageId: null }))
  await saveStatuses(db, now, reports)
}
