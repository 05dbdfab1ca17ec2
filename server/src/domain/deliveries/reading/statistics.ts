import type { AttemptSeries } from '@parley/contract/console/deliveries'
import type { Db } from '../../../db/db.ts'
import { bucketAt, sumByBucket, type TimeBuckets } from '../../../lib/time-buckets.ts'
import { addSteps, percentileMs } from '../engine/attempt/durations.ts'
import { type HourCounts, type OpenCounts, openCounts } from './statistics.sql.ts'

export {
  attemptsByBucket,
  countDeliveries,
  countEvents,
  hasDueDeliveries,
  readDeliveryHours,
} from './statistics.sql.ts'
export type { HourCounts, OpenCounts }

/** Counts the open deliveries of these endpoints up to `bound`, and reads the time of their last attempt. */
export async function readOpenCounts(
  db: Db,
  workspaceId: string | null,
  webhookIds: readonly string[],
  bound: number,
): Promise<Map<string, OpenCounts>> {
  const counts = webhookIds.length === 0 ? [] : await openCounts(db, workspaceId, webhookIds, bound)
  return new Map(counts.map((each) => [each.webhookId, each]))
}

/** The attempts of these hours for charts: one value for each bucket. */
export function toAttemptSeries(buckets: TimeBuckets, hours: readonly HourCounts[]): AttemptSeries {
  const durations = buckets.starts.map(() => addSteps([], []))
  for (const row of hours) {
    const bucket = bucketAt(buckets, row.hour)
    if (bucket >= 0) durations[bucket] = addSteps(durations[bucket] ?? [], row.durations)
  }
  const all = durations.reduce(addSteps, addSteps([], []))
  const of = (count: (row: HourCounts) => number) => sumByBucket(buckets, hours, count)
  return {
    succeeded: of((row) => row.succeeded),
    failed: of((row) => row.failed),
    p50_ms: durations.map((counts) => percentileMs(counts, 0.5)),
    p95_ms: durations.map((counts) => percentileMs(counts, 0.95)),
    overall: { p50_ms: percentileMs(all, 0.5), p95_ms: percentileMs(all, 0.95) },
  }
}
