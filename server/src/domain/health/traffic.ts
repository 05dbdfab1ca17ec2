import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { formatDuration } from '../../lib/format-duration.ts'
import { withPrefix } from '../../lib/ids.ts'
import { countParked } from '../connections/parked.ts'
import { failuresMax } from '../deliveries/engine/retry-policy.ts'
import { countDeliveries, readOpenCounts } from '../deliveries/reading/statistics.ts'
import { activeHolds, countOutbox } from '../messages/sending/outbox.ts'
import { failingWebhooks } from '../webhooks/webhooks.ts'
import { count, type Finding, ok, problem, warning } from './finding.ts'

/** A receiver that fails now and then is its owner's business; from here on it is on its way to being disabled. */
const failingFrom = 5

export async function checkEndpoints(db: Db): Promise<Finding> {
  // The oldest first.
  const troubled = (await failingWebhooks(db, null, failingFrom)).reverse()
  const disabled = troubled.filter(({ enabled }) => !enabled)
  const failing = troubled.filter(({ enabled }) => enabled)
  if (disabled.length + failing.length === 0)
    return ok('endpoints', 'None is disabled, and none fails again and again.')
  const ids = troubled.map(({ id }) => id)
  const counts = await readOpenCounts(db, null, ids, countedMax)
  const openOf = ({ id }: { id: string }) => (counts.get(id)?.held ?? 0) + (counts.get(id)?.waiting ?? 0)
  const held = disabled.reduce((sum, endpoint) => sum + openOf(endpoint), 0)
  const parts = [
    disabled.length > 0 && `${count(disabled.length, 'endpoint')} disabled, with ${count(held, 'event')} held`,
    failing.length > 0 && `${count(failing.length, 'endpoint')} failing`,
  ].filter(Boolean)
  return warning('endpoints', `${parts.join('; ')}.`, {
    details: [...disabled, ...failing].map((endpoint) => wordsFor(endpoint, openOf(endpoint))),
    means: `Held events are kept until retention ends. An endpoint is disabled after ${failuresMax} failures in a row.`,
    advice: 'Have the receiver repaired, try "npx parley webhook test ID", then "npx parley webhook enable ID".',
  })
}

/** Health counts all there are. */
const countedMax = 2 ** 31 - 1

type Troubled = Awaited<ReturnType<typeof failingWebhooks>>[number]

function wordsFor({ id, name, url, enabled, failures, ...row }: Troubled, open: number): string {
  const who = `${withPrefix('whk', id)} ${name} (${url})`
  if (!enabled) return `${who}: disabled, ${open} held. ${row.disabled_reason ?? ''}`.trim()
  return `${who}: ${failures} failures in a row since ${row.failing_since?.toISOString() ?? 'a while'}, ${open} open`
}

const lateMs = { warning: 60_000, problem: 600_000 }

export interface Queues {
  deliveries: { waiting: number; held: number; overdue: number; oldestOverdueMs: number }
  outbox: Record<'waiting' | 'claimed' | 'calling' | 'unknown' | 'expired', number> & { oldestOverdueMs: number }
  /** Updates for phone numbers that are not synced yet. */
  parked: { updates: number; oldestMs: number }
}

/** What waits, over all workspaces; for whoever watches an installation. */
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
  }
}

export async function checkDeliveries(db: Db, clock: Clock): Promise<Finding> {
  const { waiting, held, overdue, oldestOverdueMs } = (await readQueues(db, clock.now())).deliveries
  const says = `${waiting} waiting, ${held} held, ${overdue} overdue`
  if (oldestOverdueMs < lateMs.warning) return ok('deliveries', `${says}.`)
  return (oldestOverdueMs < lateMs.problem ? warning : problem)(
    'deliveries',
    `${says}, the oldest by ${formatDuration(oldestOverdueMs)}.`,
    {
      means: 'Nothing is lost, but receivers hear of things late.',
      advice:
        'A process with PARLEY_ROLE all or worker has to run. If one does, look at "secrets" here, then at its load and its log.',
    },
  )
}

export async function checkOutbox(db: Db, clock: Clock): Promise<Finding> {
  const now = clock.now()
  const { outbox } = await readQueues(db, now)
  const holds = await activeHolds(db, now)
  const says = `${outbox.waiting} to send, ${outbox.claimed + outbox.calling} being sent, ${outbox.unknown} with an unknown outcome`
  const details = holds.map(
    ({ id, until, title }) => `${id} waits until ${until.toISOString()}: ${title ?? 'no reason'}`,
  )
  const late = outbox.oldestOverdueMs >= lateMs.warning
  if (!late && outbox.unknown === 0 && holds.length === 0) return ok('sending', `${says}.`)
  const means = [
    outbox.unknown > 0 &&
      'A message whose outcome is unknown may have been sent; it is never sent twice, and counts as failed after an hour without word.',
    holds.length > 0 && 'The network told some senders, accounts or apps to wait.',
  ].filter(Boolean)
  const stuck = outbox.oldestOverdueMs >= lateMs.problem
  return (stuck ? problem : warning)(
    'sending',
    late ? `${says}; the oldest is ${formatDuration(outbox.oldestOverdueMs)} late.` : `${says}.`,
    {
      details,
      means: means.length > 0 ? means.join(' ') : null,
      advice: late
        ? 'A process with PARLEY_ROLE all or worker has to run; a number also sends no faster than the network lets it.'
        : 'Look at the account in Meta’s WhatsApp Manager if this does not pass within the hour.',
    },
  )
}
