import type { Period } from '@parley/contract/console/overview'
import {
  type ConsoleSender,
  countedPerStep,
  type SenderActivity,
  type SenderChange,
  type SenderDetail,
  type SenderFilters,
} from '@parley/contract/console/senders'
import type { SenderStatusData } from '@parley/contract/service-events'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { exportAll } from '../../lib/csv-export.ts'
import { withoutPrefix } from '../../lib/ids.ts'
import { hasText, isOneOf } from '../../lib/list-filters.ts'
import { refuse } from '../../lib/refuse.ts'
import { bucketFields, timeBuckets } from '../../lib/time-buckets.ts'
import { type SenderEvent, senderEvents } from '../deliveries/reading/events.ts'
import { type ConsoleSenderRow, latestUse, listConsoleSenders, volumeByBucket } from './console.sql.ts'
import { senderById } from './senders.sql.ts'
import { toSender } from './senders.ts'

export const listForConsole = async (
  db: Db,
  workspaceId: string,
  { q, status, quality }: SenderFilters = {},
): Promise<ConsoleSender[]> =>
  (await listConsoleSenders(db, workspaceId, null))
    .map(toConsoleSender)
    .filter(
      (sender) =>
        hasText(q, sender.display_name, sender.phone_number, sender.id, sender.connection.account) &&
        isOneOf(status, sender.status) &&
        isOneOf(quality, sender.quality_rating),
    )

const changesShown = 50

/** A sender with the changes of its status and quality rating, newest first. */
export async function readSender(db: Db, workspaceId: string, id: string): Promise<SenderDetail> {
  const uuid = withoutPrefix('snd', id) ?? refuse('not_found')
  const [[row], events] = await Promise.all([
    listConsoleSenders(db, workspaceId, uuid),
    senderEvents(db, workspaceId, uuid, changesShown + 1),
  ])
  if (!row) return refuse('not_found')
  return { ...toConsoleSender(row), changes: toChanges(events).slice(0, changesShown) }
}

/** An event has the rating after the change. The rating before it is in the event before it. */
const toChanges = (events: readonly SenderEvent[]): SenderChange[] => {
  const changes = events.map(({ at, body }) => ({ at, data: JSON.parse(body.toString()).data as SenderStatusData }))
  return changes.map(({ at, data: { sender_id: _, ...data } }, index) => ({
    at: at.toISOString(),
    ...data,
    previous_quality_rating: changes[index + 1]?.data.quality_rating ?? null,
  }))
}

const readForLastDay = 100_000

/** The volume of a sender over a period, and how much of its limits it used within 24 hours. */
export async function readActivity(
  { db, clock, workspaceId }: { db: Db; clock: Clock; workspaceId: string },
  id: string,
  period: Period,
): Promise<SenderActivity> {
  const uuid = withoutPrefix('snd', id) ?? refuse('not_found')
  const now = clock.now()
  const buckets = timeBuckets(period, now)
  const [known, rows, use] = await Promise.all([
    senderById(db, workspaceId, uuid),
    volumeByBucket(db, workspaceId, uuid, buckets, countedPerStep + 1),
    latestUse(db, workspaceId, uuid, new Date(now.getTime() - 86_400_000), readForLastDay),
  ])
  if (!known || !use) return refuse('not_found')
  const steps = rows.toSorted((left, right) => left.at.getTime() - right.at.getTime())
  return {
    period,
    ...bucketFields(buckets),
    queued: steps.map(({ queued }) => queued),
    sent: steps.map(({ accepted, queued, failed }) => Math.max(0, accepted - queued - failed)),
    failed: steps.map(({ failed }) => failed),
    received: steps.map(({ received, echoes }) => Math.max(0, received - echoes)),
    has_more: steps.some(({ accepted, received }) => Math.max(accepted, received) > countedPerStep),
    last_day: { people: use.people, peak_per_second: use.peak, has_more: use.messages >= readForLastDay },
  }
}

export const exportSenders = (db: Db, workspaceId: string, filters: SenderFilters): AsyncIterable<string> =>
  exportAll({
    head: exported,
    rows: () => listForConsole(db, workspaceId, filters),
    toLine: ({ connection, ...sender }) => exported.map((name) => ({ ...sender, account: connection.account })[name]),
  })

const exported = [
  ...(['id', 'phone_number', 'display_name', 'status', 'status_reason', 'quality_rating', 'throughput'] as const),
  ...(['account', 'messaging_limit', 'name_status', 'verification_status', 'has_pin'] as const),
  ...(['created_at', 'last_sent_at', 'last_received_at'] as const),
]

const toConsoleSender = (row: ConsoleSenderRow): ConsoleSender => ({
  ...toSender(row),
  throughput: row.throughput,
  messaging_limit: row.messaging_limit,
  name_status: row.name_status,
  requested_name: row.requested_name,
  requested_name_status: row.requested_name_status,
  verification_status: row.verification_status,
  has_pin: row.has_pin,
  status_reason: row.status_reason,
  connection: {
    id: row.connection_id,
    account: row.account,
    status: row.account_status,
    status_reason: row.account_status_reason,
    status_until: row.account_status_until?.toISOString() ?? null,
    synced_at: row.synced_at?.toISOString() ?? null,
    sync_error: row.sync_error,
  },
  last_sent_at: row.last_sent_at?.toISOString() ?? null,
  last_received_at: row.last_received_at?.toISOString() ?? null,
})
