import type { Period } from '@parley/contract/console/overview'
import type { WebhookStatistics } from '@parley/contract/console/webhooks'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { timeBuckets } from '../../lib/time-buckets.ts'
import { toAttemptSeries } from '../deliveries/reading/attempt-series.ts'
import { endpointHoursSince } from '../deliveries/reading/statistics.ts'
import { requireWebhook } from './webhooks.ts'

/** The attempts at an endpoint in a period, from the counts by hour: at most 720 rows. */
export async function readStatistics(
  db: Db,
  clock: Clock,
  workspaceId: string,
  id: string,
  period: Period,
): Promise<WebhookStatistics> {
  const { uuid } = await requireWebhook(db, id, workspaceId)
  const steps = timeBuckets(period, clock.now())
  return {
    period,
    from: steps.from.toISOString(),
    to: steps.to.toISOString(),
    step_hours: steps.hours,
    steps: steps.starts.map((start) => start.toISOString()),
    attempts: toAttemptSeries(steps, await endpointHoursSince(db, workspaceId, uuid, steps.from)),
  }
}
