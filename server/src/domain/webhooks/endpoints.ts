import type { Bounded, ConsoleWebhook } from '@parley/contract/console/webhooks'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { withoutPrefix, withPrefix } from '../../lib/ids.ts'
import { refuse } from '../../lib/refuse.ts'
import { addSteps, percentileMs } from '../deliveries/engine/durations.ts'
import { type EndpointRow, endpointRows, type HourRow, hoursSince } from '../deliveries/reading/endpoint-statistics.sql.ts'
import { failuresMax } from '../deliveries/engine/retry-policy.ts'

const hourMs = 3_600_000
const bound = 10_000
/** The first attempt, the one at once after it, and another: more than a slip. */
const failingFrom = 3

/** A workspace's endpoints and how each fares, the newest first. */
export const listEndpoints = (db: Db, clock: Clock, workspaceId: string): Promise<ConsoleWebhook[]> =>
  endpointsOf(db, clock, workspaceId, null)

export async function getEndpoint(db: Db, clock: Clock, workspaceId: string, id: string): Promise<ConsoleWebhook> {
  const uuid = withoutPrefix('whk', id) ?? refuse('not_found')
  const [endpoint] = await endpointsOf(db, clock, workspaceId, uuid)
  return endpoint ?? refuse('not_found')
}

async function endpointsOf(db: Db, clock: Clock, workspaceId: string, webhookId: string | null) {
  const thisHour = Math.floor(clock.now().getTime() / hourMs)
  const rows = await endpointRows(db, { workspaceId, webhookId, bound: bound + 1 })
  const hours = await hoursSince(db, workspaceId, new Date((thisHour - 23) * hourMs))
  const byEndpoint = Map.groupBy(hours, (hour) => hour.webhookId)
  return rows.map((row) => toEndpoint(row, byEndpoint.get(row.id) ?? []))
}

function toEndpoint(row: EndpointRow, hours: readonly HourRow[]): ConsoleWebhook {
  const succeeded = hours.reduce((sum, hour) => sum + hour.succeeded, 0)
  const failed = hours.reduce((sum, hour) => sum + hour.failed, 0)
  const durations = hours.reduce<number[]>((sum, hour) => addSteps(sum, hour.durations), [])
  return {
    id: withPrefix('whk', row.id),
    object: 'webhook',
    name: row.name,
    url: row.url,
    secret_hint: row.secretHint,
    events: row.events,
    enabled: row.enabled,
    disabled_reason: row.disabledReason,
    last_success_at: row.lastSuccessAt?.toISOString() ?? null,
    state: !row.enabled ? 'disabled' : row.failures >= failingFrom ? 'failing' : 'enabled',
    created_at: row.createdAt.toISOString(),
    failures: row.failures,
    failures_max: failuresMax,
    failing_since: row.failingSince?.toISOString() ?? null,
    last_attempt_at: row.lastAttemptAt?.toISOString() ?? null,
    held: bounded(row.held),
    waiting: bounded(row.waiting),
    recent: { attempts: succeeded + failed, succeeded, p95_ms: percentileMs(durations, 0.95) },
  }
}

const bounded = (count: number): Bounded => ({ count: Math.min(count, bound), more: count > bound })
