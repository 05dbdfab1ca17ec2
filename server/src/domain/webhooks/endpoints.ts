import type { Bounded, ConsoleWebhook, WebhookEvents, WebhookFilters } from '@parley/contract/console/webhooks'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { exportAll } from '../../lib/csv-export.ts'
import { withoutPrefix } from '../../lib/ids.ts'
import { hasText, isBetween, isOneOf } from '../../lib/list-filters.ts'
import { refuse } from '../../lib/refuse.ts'
import { sumByBucket, type TimeBuckets, timeBuckets } from '../../lib/time-buckets.ts'
import { addSteps, percentileMs } from '../deliveries/engine/attempt/durations.ts'
import { failuresMax, isDisabledByFailures, pacedGapMs } from '../deliveries/engine/attempt/retry-policy.ts'
import { readStepsOf } from '../deliveries/engine/hold/steps.ts'
import { countEventTypes } from '../deliveries/reading/events.ts'
import { explainFailure } from '../deliveries/reading/explain-failure.ts'
import { readLeftOut } from '../deliveries/reading/left-out.ts'
import {
  type HourCounts,
  type OpenCounts,
  readDeliveryHours,
  readOpenCounts,
} from '../deliveries/reading/statistics.ts'
import { type WebhookRow, webhookById, webhooksOf } from './webhooks.sql.ts'
import { requireRow, toWebhook } from './webhooks.ts'

const countBound = 10_000
/** An endpoint counts as failing from the third failure: the first attempt, its immediate retry, and one more. */
export const failingFrom = 3

/** The endpoints of a workspace with their statistics, newest first. */
export const listEndpoints = (db: Db, clock: Clock, workspaceId: string): Promise<ConsoleWebhook[]> =>
  endpointsOf(db, clock, workspaceId, null)

export async function getEndpoint(db: Db, clock: Clock, workspaceId: string, id: string): Promise<ConsoleWebhook> {
  const [endpoint] = await endpointsOf(db, clock, workspaceId, id)
  return endpoint ?? refuse('not_found')
}

async function endpointsOf(db: Db, clock: Clock, workspaceId: string, id: string | null) {
  const now = clock.now()
  const day = timeBuckets('24h', now)
  const rows = id === null ? await webhooksOf(db, workspaceId) : [await requireOwn(db, workspaceId, id)]
  const ids = rows.map((row) => row.id)
  const open = await readOpenCounts(db, workspaceId, ids, countBound + 1)
  const hours = await readDeliveryHours(db, workspaceId, day.from)
  const byEndpoint = Map.groupBy(hours, (hour) => hour.webhookId)
  const filtered = rows.filter(({ senders }) => senders !== null).map((row) => row.id)
  const leftOut = await readLeftOut(db, workspaceId, filtered, day.from)
  const steps = await readStepsOf(db, ids)
  return rows.map((row) => ({
    ...toEndpoint(row, now, open.get(row.id), day, byEndpoint.get(row.id) ?? []),
    left_out: leftOut.get(row.id) ?? 0,
    in_progress: steps.flatMap(({ webhookId, work, done }) =>
      webhookId === row.id && work !== 'delete' ? [{ work, done }] : [],
    ),
  }))
}

async function requireOwn(db: Db, workspaceId: string, id: string): Promise<WebhookRow> {
  const row = requireRow(await webhookById(db, withoutPrefix('whk', id) ?? refuse('not_found')))
  return row.workspace_id === workspaceId ? row : refuse('not_found')
}

function toEndpoint(
  row: WebhookRow,
  now: Date,
  open: OpenCounts | undefined,
  day: TimeBuckets,
  hours: readonly HourCounts[],
): Omit<ConsoleWebhook, 'in_progress' | 'left_out'> {
  const state = !row.enabled ? 'disabled' : row.failures >= failingFrom ? 'failing' : 'enabled'
  const byHour = (count: (row: HourCounts) => number) => sumByBucket(day, hours, count)
  const [succeeded, failed] = [byHour((hour) => hour.succeeded), byHour((hour) => hour.failed)]
  const durations = hours.reduce<number[]>((sum, hour) => addSteps(sum, hour.durations), [])
  return {
    ...toWebhook(row),
    state,
    created_at: row.created_at.toISOString(),
    failures: row.failures,
    failures_max: failuresMax,
    failing_since: row.failing_since?.toISOString() ?? null,
    next_attempt_at: state === 'failing' ? nextAttemptAt(row, now, open?.nextDueAt ?? null) : null,
    staged_secret_hint: row.staged_secret_hint,
    last_attempt_at: open?.lastAttemptAt?.toISOString() ?? null,
    last_failure: failureOf(open),
    disabled_at: row.disabled_at?.toISOString() ?? null,
    disabled_by_failures: isDisabledByFailures(row.disabled_reason),
    held: bounded(open?.held ?? 0),
    waiting: bounded(open?.waiting ?? 0),
    due_since: open?.nextDueAt && open.nextDueAt <= now ? open.nextDueAt.toISOString() : null,
    recent: {
      attempts: total(succeeded) + total(failed),
      succeeded: total(succeeded),
      p95_ms: percentileMs(durations, 0.95),
      hours: { succeeded, failed },
    },
  }
}

const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)

function failureOf(open: OpenCounts | undefined): ConsoleWebhook['last_failure'] {
  const explained = open?.failedEventId ? explainFailure(open.error, open.status) : null
  return explained && { ...explained, event_id: open?.failedEventId ?? '' }
}

function nextAttemptAt({ next_attempt_at: turnAt }: WebhookRow, now: Date, dueAt: Date | null): string | null {
  // A turn that is further away than the gap is taken: an attempt is in progress.
  const isInProgress = turnAt !== null && turnAt.getTime() > now.getTime() + pacedGapMs
  if (dueAt === null || isInProgress) return null
  return new Date(Math.max(now.getTime(), dueAt.getTime(), turnAt?.getTime() ?? 0)).toISOString()
}

const bounded = (count: number): Bounded => ({ count: Math.min(count, countBound), more: count > countBound })

/** In this order: failing, disabled because of failures, enabled, disabled by a person. */
const rankOf = ({ state, disabled_by_failures }: ConsoleWebhook): number =>
  state === 'failing' ? 0 : disabled_by_failures ? 1 : state === 'enabled' ? 2 : 3

/** The endpoints that match, those with a problem first. The URL may contain a secret path, but everyone who reads the list sees it there too. */
export const filterEndpoints = async (
  db: Db,
  clock: Clock,
  workspaceId: string,
  { q, state, from, to }: WebhookFilters,
): Promise<ConsoleWebhook[]> =>
  (await listEndpoints(db, clock, workspaceId))
    .filter(
      (webhook) =>
        hasText(q, webhook.name, webhook.url, webhook.id) &&
        isOneOf(state, webhook.state) &&
        isBetween(webhook.created_at, from, to),
    )
    .sort((left, right) => rankOf(left) - rankOf(right))

export const exportEndpoints = (
  db: Db,
  clock: Clock,
  workspaceId: string,
  filters: WebhookFilters,
): AsyncIterable<string> =>
  exportAll({
    head: [
      ...['id', 'name', 'url', 'state', 'events', 'created_at', 'attempts_24h', 'succeeded_24h', 'p95_ms', 'held'],
      'last_attempt_at',
    ],
    rows: () => filterEndpoints(db, clock, workspaceId, filters),
    toLine: ({ id, name, url, state, events, created_at, recent, held, last_attempt_at }) => [
      ...[id, name, url, state, events.join(' '), created_at, recent.attempts, recent.succeeded, recent.p95_ms],
      ...[held.count, last_attempt_at],
    ],
  })

/** The period in which the events of each type are counted. */
const eventDaysMs = 7 * 86_400_000

/** The events that occurred, by type, and whether the endpoint is subscribed to them. */
export async function readEvents(db: Db, clock: Clock, workspaceId: string, id: string): Promise<WebhookEvents> {
  const { senders, events } = await requireOwn(db, workspaceId, id)
  const since = new Date(clock.now().getTime() - eventDaysMs)
  const counts = await countEventTypes(db, workspaceId, senders, since)
  return {
    since: since.toISOString(),
    data: counts.map(({ type, count, more, lastAt }) => ({
      type,
      subscribed: events.includes(type),
      events: { count, more },
      last_at: lastAt?.toISOString() ?? null,
    })),
  }
}
