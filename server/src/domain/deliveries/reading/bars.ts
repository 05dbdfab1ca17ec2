import type { DeliveryBars, DeliveryBarsQuery } from '@parley/contract/console/deliveries'
import type { Db } from '../../../db/db.ts'
import { barTimes, hourMs } from '../../../lib/list-bars.ts'
import { endpointIds } from '../endpoint.ts'
import { addSteps, countSteps, percentileMs } from '../engine/attempt/durations.ts'
import { attemptsByBar, type BarsQuery, failuresByBar, hoursByBar } from './bars.sql.ts'

/** Bars of less than an hour read each attempt. With more attempts than this, the bars are hours. */
const attemptsMax = 50_000
/** Few deliveries fail permanently: an endpoint that fails 20 times in a row is disabled. */
const failuresMax = 50_000

/** The attempts of a time by result, and their response times, for the bars above a list. */
export async function readDeliveryBars(
  db: Db,
  now: Date,
  workspaceId: string,
  { webhook, since, until, zone }: DeliveryBarsQuery,
): Promise<DeliveryBars> {
  const of = { workspaceId, webhookIds: await endpointIds(db, workspaceId, webhook) }
  const range = { from: toDate(since), to: toDate(until), zone }
  const [bars, hourly] = [barTimes(range, now), barTimes(range, now, hourMs)]
  const hours = await hoursByBar(db, { ...of, times: hourly.times })
  const isShort = bars.stepMs < hourMs && hours.reduce((sum, row) => sum + row.succeeded + row.failed, 0) <= attemptsMax
  const query = { ...of, times: isShort ? bars.times : hourly.times }
  const [attempts, failures] = await Promise.all([
    isShort ? readAttempts(db, query) : hours,
    failuresByBar(db, { ...query, limit: failuresMax }),
  ])
  const sums = query.times.slice(1).map(() => ({ succeeded: 0, failed: 0, last: 0, durations: addSteps([], []) }))
  for (const { bar, succeeded, failed, durations } of attempts) {
    const sum = sums[bar]
    if (!sum) continue
    sum.succeeded += succeeded
    sum.failed += failed
    sum.durations = addSteps(sum.durations, durations)
  }
  for (const { bar, count } of failures) if (sums[bar]) sums[bar].last = count
  return {
    times: query.times.map((time) => time.toISOString()),
    counts: {
      delivered: sums.map(({ succeeded }) => succeeded),
      // An attempt is counted when it is recorded, which may be a moment later.
      retried: sums.map(({ failed, last }) => Math.max(0, failed - last)),
      failed: sums.map(({ last }) => last),
    },
    counted_from: null,
    p50_ms: sums.map(({ durations }) => percentileMs(durations, 0.5)),
    p95_ms: sums.map(({ durations }) => percentileMs(durations, 0.95)),
  }
}

const toDate = (time: string | undefined): Date | null => (time === undefined ? null : new Date(time))

const readAttempts = async (db: Db, query: BarsQuery) =>
  (await attemptsByBar(db, query)).map(({ durationsUs, ...attempts }) => ({
    ...attempts,
    durations: countSteps(durationsUs.map((us) => us / 1000)),
  }))
