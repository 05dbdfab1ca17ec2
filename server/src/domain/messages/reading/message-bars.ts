/** The bars above the messages. */

import { valuesOf } from '@parley/contract/console/list'
import type { ListBars } from '@parley/contract/console/list-bars'
import type { MessageFilters } from '@parley/contract/console/messages'
import type { MessageStatus } from '@parley/contract/message'
import { messageStatuses } from '@parley/contract/message'
import { readLimitMs, tookTooLong, withTimeLimit } from '../../../db/bounded-total.ts'
import type { Db } from '../../../db/db.ts'
import { withPlannerSettingsOff } from '../../../db/planner-settings.ts'
import { type BarTimes, barTimes, hourMs, toListBars } from '../../../lib/list-bars.ts'
import { messagesByBar } from './console-list.sql.ts'
import { searchesOf } from './console-list.ts'
import { keptMs } from './message-hours.ts'
import { messagesByBucket, receivedByBucket } from './statistics.sql.ts'

/** How many messages of each search are counted if the hourly counts do not have them. */
const countedMax = 30_000

const results: Readonly<Record<MessageStatus, string>> = {
  queued: 'pending',
  sent: 'pending',
  delivered: 'delivered',
  read: 'delivered',
  failed: 'failed',
}

/**
 * Messages by result. The hourly counts know the time, the direction and the status. Bars that are shorter than an hour, and
 * other filters, are counted from the newest messages, by the indexes of the list. Messages that the business wrote elsewhere
 * are not counted.
 */
export async function messageBars(
  db: Db,
  now: Date,
  workspaceId: string,
  { zone, ...filters }: MessageFilters & { zone?: string },
): Promise<ListBars> {
  const range = { from: toDate(filters.from), to: toDate(filters.to), zone }
  const bars = barTimes(range, now)
  const byHours = barTimes(range, now, hourMs)
  const isInHours = isKnownByHour(filters) && now.getTime() - startOf(byHours).getTime() < keptMs
  if (isInHours && bars.stepMs >= hourMs) return byHour(db, workspaceId, filters, bars)
  const counted = await byRow(db, workspaceId, filters, bars)
  return counted.counted_from !== null && isInHours ? byHour(db, workspaceId, filters, byHours) : counted
}

const toDate = (text: string | undefined): Date | null => (text === undefined ? null : new Date(text))
const startOf = ({ times }: BarTimes): Date => times[0] as Date

const isKnownByHour = ({ direction, status, from, to, ...others }: MessageFilters): boolean =>
  Object.values(others).every((value) => value === undefined)

async function byHour(db: Db, workspaceId: string, filters: MessageFilters, bars: BarTimes): Promise<ListBars> {
  const { direction } = filters
  const statuses = valuesOf<MessageStatus>(filters.status) ?? messageStatuses
  const hours = hoursIn(bars)
  const [sent, received] = await Promise.all([
    direction === 'received' ? [] : messagesByBucket(db, workspaceId, hours),
    direction === 'sent' || filters.status !== undefined ? [] : receivedByBucket(db, workspaceId, hours),
  ])
  const barAt = (at: Date) => bars.times.findLastIndex((time) => time <= at) + 1
  return toListBars(bars, [
    ...sent.flatMap((row) =>
      statuses.map((status) => ({ bar: barAt(row.at), result: results[status], count: row[status] })),
    ),
    ...received.map(({ at, count }) => ({ bar: barAt(at), result: 'received', count })),
  ])
}

/** Every hour of the bars: those of a day on which clocks change have different lengths. */
function hoursIn({ times }: BarTimes) {
  const first = (times[0] as Date).getTime()
  const to = times.at(-1) as Date
  const starts = Array.from({ length: (to.getTime() - first) / hourMs }, (_, hour) => new Date(first + hour * hourMs))
  return { from: starts[0] as Date, to, hours: 1, starts }
}

async function byRow(db: Db, workspaceId: string, filters: MessageFilters, bars: BarTimes): Promise<ListBars> {
  const inBars = { ...filters, from: filters.from ?? startOf(bars).toISOString() }
  const searches = await searchesOf(db, workspaceId, inBars)
  const rows = await withTimeLimit(db, readLimitMs, (tx) =>
    withPlannerSettingsOff(['sort', 'seqscan', 'bitmapscan'], tx, (inOrder) =>
      messagesByBar(inOrder, workspaceId, searches, bars.times, countedMax),
    ),
  )
  if (rows === tookTooLong) return toListBars(bars, [], bars.times.at(-1))
  const oldest = rows.flatMap((row) => row.oldest?.getTime() ?? [])
  return toListBars(
    bars,
    rows.map((row) => ({ ...row, result: row.status === 'received' ? 'received' : results[row.status] })),
    oldest.length === 0 ? null : new Date(Math.max(...oldest)),
  )
}
