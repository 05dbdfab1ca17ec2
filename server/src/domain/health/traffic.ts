import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { formatDuration, formatTime } from '../../lib/format.ts'
import { withPrefix } from '../../lib/ids.ts'
import { countParked } from '../connections/parked.ts'
import { failuresMax } from '../deliveries/engine/attempt/retry-policy.ts'
import { readStepsOf } from '../deliveries/engine/hold/steps.ts'
import { countDeliveries, hasDueDeliveries, readOpenCounts } from '../deliveries/reading/statistics.ts'
import { countReplays } from '../deliveries/replays/replays.ts'
import { activeHolds, countOutbox } from '../messages/sending/outbox.ts'
import { failingWebhooks } from '../webhooks/webhooks.ts'
import { count, type Finding, ok, problem, warning } from './finding.ts'

/** Failures in a row. Fewer are usual and concern only the receiver; from here on the endpoint may get disabled. */
export const failingFrom = 5

export async function checkEndpoints(db: Db): Promise<Finding> {
  // Oldest first.
  const affected = (await failingWebhooks(db, null, failingFrom)).reverse()
  const disabled = affected.filter(({ enabled }) => !enabled)
  const failing = affected.filter(({ enabled }) => enabled)
  if (disabled.length + failing.length === 0) return ok('endpoints', 'No webhook is disabled or failing repeatedly.')
  const ids = affected.map(({ id }) => id)
  const counts = await readOpenCounts(db, null, ids, countedMax)
  const openOf = ({ id }: { id: string }) => (counts.get(id)?.held ?? 0) + (counts.get(id)?.waiting ?? 0)
  const held = disabled.reduce((sum, endpoint) => sum + openOf(endpoint), 0)
  const parts = [
    disabled.length > 0 && `${count(disabled.length, 'webhook')} disabled, ${count(held, 'event')} held`,
    failing.length > 0 && `${count(failing.length, 'webhook')} failing`,
  ].filter(Boolean)
  return warning('endpoints', `${parts.join('; ')}.`, {
    details: [...disabled, ...failing].map((endpoint) => describe(endpoint, openOf(endpoint))),
    effect: `Events for a disabled webhook are held and deleted after PARLEY_RETENTION_DAYS. A webhook is disabled after ${failuresMax} failures in a row.`,
    remedy: 'Fix the receiver, check it with "./parley webhook test ID", then run "./parley webhook enable ID".',
    consoleRemedy: 'Fix the receiver, send a test event, then enable the webhook.',
    actions: [...disabled, ...failing].map(({ id, name, enabled }) => ({
      kind: 'repair_webhook',
      id: withPrefix('whk', id),
      name,
      enabled,
    })),
  })
}

/** No limit: the health check counts all open deliveries. */
const countedMax = 2 ** 31 - 1

type FailingWebhook = Awaited<ReturnType<typeof failingWebhooks>>[number]

const describe = (endpoint: FailingWebhook, open: number): string =>
  `${withPrefix('whk', endpoint.id)} ${endpoint.name} (${endpoint.url}): ${describeEndpoint(endpoint, open)}`

/** The state of an endpoint that is disabled or failing, with its open deliveries. */
export function describeEndpoint({ enabled, failures, ...row }: FailingWebhook, open: number): string {
  if (!enabled) return `disabled, ${open} held. ${row.disabled_reason ?? ''}`.trim()
  const since = row.failing_since ? ` since ${formatTime(row.failing_since)}` : ''
  return `${failures} failures in a row${since}, ${open} waiting`
}

const lateMs = { warning: 60_000, problem: 600_000 }

/** What to do if work is due and not done. */
export const noWorker =
  'Check that a process with PARLEY_ROLE "all" or "worker" is running. If so, check its load and its log.'

export interface Queues {
  deliveries: { waiting: number; held: number; overdue: number; oldestOverdueMs: number }
  outbox: Record<'waiting' | 'claimed' | 'calling' | 'unknown' | 'expired', number> & { oldestOverdueMs: number }
  /** Updates for phone numbers that are not synced yet. */
  parked: { updates: number; oldestMs: number }
  replays: { open: number }
}

export async function readQueues(db: Db, now: Date): Promise<Queues> {
  const [deliveries, states] = [await countDeliveries(db, now), await countOutbox(db, now)]
  const parked = await countParked(db)
  const sinceMs = (at: Date | null | undefined) => (at ? Math.max(0, now.getTime() - at.getTime()) : 0)
  const outbox = { waiting: 0, claimed: 0, calling: 0, unknown: 0, expired: 0, oldestOverdueMs: 0 }
  for (const { state, count: number, oldestDueAt } of states) {
    outbox[state] = number
    outbox.oldestOverdueMs = Math.max(outbox.oldestOverdueMs, sinceMs(oldestDueAt))
  }
  const { waiting = 0, held = 0, overdue = 0, oldestDueAt } = deliveries ?? {}
  return {
    deliveries: { waiting, held, overdue, oldestOverdueMs: sinceMs(oldestDueAt) },
    outbox,
    parked: { updates: parked?.updates ?? 0, oldestMs: sinceMs(parked?.oldestAt) },
    replays: { open: await countReplays(db) },
  }
}

/** Whether no message is being sent and no delivery is due, for tests. */
export async function isIdle(db: Db, now: Date): Promise<boolean> {
  const open = await countOutbox(db, now)
  const isSending = open.some(({ state, count: number }) => number > 0 && state !== 'unknown' && state !== 'expired')
  return !isSending && !(await hasDueDeliveries(db, now))
}

/** What is done to all deliveries of an endpoint in the background. */
const workNames = {
  release: 'making deliveries due that were held',
  delete: 'deleting the deliveries of a deleted webhook',
  retry: 'retrying failed deliveries',
  rotate: 'retrying what failed before the secret was rotated',
} as const

export async function checkDeliveries(db: Db, clock: Clock): Promise<Finding> {
  const { waiting, held, overdue, oldestOverdueMs } = (await readQueues(db, clock.now())).deliveries
  const message = `${waiting} waiting, ${held} held, ${overdue} overdue`
  const details = (await readStepsOf(db, null)).map(
    ({ webhookId, work, done }) => `${withPrefix('whk', webhookId)}: ${workNames[work]}, ${done} so far`,
  )
  if (oldestOverdueMs < lateMs.warning) return ok('deliveries', `${message}.`, { details })
  return (oldestOverdueMs < lateMs.problem ? warning : problem)(
    'deliveries',
    `${message}; the oldest is ${formatDuration(oldestOverdueMs)} late.`,
    {
      details,
      effect: 'No events are lost, but receivers get them late.',
      remedy:
        'Check that a process with PARLEY_ROLE "all" or "worker" is running. If so, check "secrets" in this report, then its load and its log.',
    },
  )
}

export async function checkOutbox(db: Db, clock: Clock): Promise<Finding> {
  const now = clock.now()
  const { outbox } = await readQueues(db, now)
  const holds = await activeHolds(db, now)
  const message = `${outbox.waiting} waiting, ${outbox.claimed + outbox.calling} being sent, ${outbox.unknown} with an unknown outcome`
  const details = holds.map(
    ({ id, until, title }) => `${id}: on hold until ${formatTime(until)}${title === null ? '' : ` (${title})`}`,
  )
  const late = outbox.oldestOverdueMs >= lateMs.warning
  if (!late && outbox.unknown === 0 && holds.length === 0) return ok('sending', `${message}.`)
  const effect = [
    outbox.unknown > 0 &&
      'A message with an unknown outcome may have been sent. Parley never sends it again, and marks it as failed if no status arrives within an hour.',
    holds.length > 0 && 'WhatsApp asked Parley to pause some senders, accounts or apps.',
  ].filter(Boolean)
  const stuck = outbox.oldestOverdueMs >= lateMs.problem
  return (stuck ? problem : warning)(
    'sending',
    late ? `${message}; the oldest is ${formatDuration(outbox.oldestOverdueMs)} late.` : `${message}.`,
    {
      details,
      effect: effect.length > 0 ? effect.join(' ') : null,
      remedy: late
        ? 'Check that a process with PARLEY_ROLE "all" or "worker" is running. WhatsApp also limits how fast a number can send.'
        : 'If this lasts longer than an hour, check the account in Meta’s WhatsApp Manager.',
    },
  )
}
