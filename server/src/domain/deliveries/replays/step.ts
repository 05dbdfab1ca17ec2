/** One step of a replay that this process runs. */
import type { Database } from '../../../db/db.ts'
import { oneWithOrderedLookups, withOrderedLookups } from '../../../db/planner-settings.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import { dropLeases, releaseLeases } from '../engine/claim/claim.sql.ts'
import { type LeasedDelivery, leaseMs } from '../engine/first-attempts.ts'
import { lockEndpoints } from '../engine/lock-endpoints.sql.ts'
import type { StartPace } from '../engine/queue/start-pace.ts'
import { planVisits } from '../engine/visits.sql.ts'
import { type Added, addNext, type LeasedRow } from './add.sql.ts'
import { countNext, typesOf } from './count.ts'
import type { Coverage } from './covered.sql.ts'
import { holdOf } from './replays.ts'
import { complete, dropCancelled, endCancelled, hasUnattempted, reclaim, type TakenReplay } from './run.sql.ts'

/** What the delivery worker does for replays. */
interface ReplayWorker {
  take(items: readonly LeasedDelivery[]): void
  capacityFor(webhookId: string, workspaceId: string, replayId: string, most: number): number
  removeReplay(webhookId: string, replayId: string): LeasedDelivery[]
  beginReplays(): void
  /** Endpoints whose secret this process cannot decrypt: it can send them nothing. */
  readonly unreadable: ReadonlySet<string>
}

export interface StepDeps {
  db: Database
  clock: Clock
  log: Logger
  worker: ReplayWorker
  /** This process, as the owner of replays. */
  owner: string
}

/** A replay that this process runs. */
export interface Running {
  webhookId: string
  pace: StartPace
  /** The lease of its deliveries until they are attempted. */
  lease: string
  /** It was taken over, and deliveries of the process before may be left. */
  isTakenOver: boolean
  /** When to look for released deliveries again, in `performance.now()` time. */
  reclaimAtMs: number
  /** How many events to look at in the next step. */
  scan: number
  /** When the next step is due. */
  nextMs: number
}

/** Between two steps of a replay: at a rate of 10 or more, and below. */
export const stepMs = { min: 100, max: 1_000 }
/** Of a replay that is held, or has sent everything and waits for retries. */
export const waitingEveryMs = 1_000
/** Until a step that has not much to do is repeated. */
export const againMs = 20
/** Leases ahead of the pace: a quarter of a second. Few deliveries wait in memory, and a late step catches up. */
const aheadShare = 4
/** Events that a step looks at, if few of them are covered: a statement of well under a second. */
const scanMax = 2_000
/** Deliveries that a step drops. */
const dropMax = 2_000
/** How often to look for deliveries that a worker has released. */
const reclaimEveryMs = 1_000

/** The replay was cancelled, its endpoint deleted, or another process runs it. */
export class ReplayLost extends Error {
  override readonly message = 'this process does not run the replay any more'
}

/** Takes a step. Returns in how many milliseconds the next is due; null if the replay has ended. */
export async function takeStep(deps: StepDeps, replay: TakenReplay, running: Running): Promise<number | null> {
  if (replay.state === 'cancelled') return dropUnsent(deps, replay, running)
  if (!replay.isCounted) await countNext(deps.db, replay.id)
  const hold = holdOf(replay)
  if (hold !== null) {
    // All have failed permanently: nothing is left to be held.
    if (replay.isAtEnd && (await completeIfDone(deps, replay)) === null) return null
    return holdBack(deps, replay, running, hold === 'webhook_failing')
  }
  const most = Math.max(1, Math.ceil(replay.rate / aheadShare))
  const capacity = deps.worker.capacityFor(replay.webhookId, replay.workspaceId, replay.id, most)
  const reclaimed = capacity > 0 ? await reclaimReleased(deps, replay, running, capacity) : 0
  const take = capacity - reclaimed
  const usualMs = Math.min(stepMs.max, Math.max(stepMs.min, 1_000 / replay.rate))
  if (take <= 0) return usualMs
  const { count: added, more } = await add(deps, replay, running, take)
  // Few events are covered: look at the next ones soon.
  if (more) return added < take ? againMs : usualMs
  // Events that are not counted or not committed yet follow.
  return replay.isCounted && replay.isCommitted ? completeIfDone(deps, replay) : stepMs.min
}

/** Leases what no worker has. Returns how many. */
async function reclaimReleased(deps: StepDeps, replay: TakenReplay, running: Running, limit: number): Promise<number> {
  if (performance.now() < running.reclaimAtMs) return 0
  const now = deps.clock.now()
  const leaseUntil = new Date(now.getTime() + leaseMs)
  const { id: replayId, webhookId } = replay
  const { lease, isTakenOver } = running
  const input = { replayId, owner: deps.owner, webhookId, now, lease, leaseUntil, isTakenOver, limit }
  const rows = await oneWithOrderedLookups(deps.db, (tx) => reclaim(tx, input))
  if (rows.length < limit) {
    running.isTakenOver = false
    running.reclaimAtMs = performance.now() + reclaimEveryMs
  }
  const expired = rows.filter(({ body }) => body === null)
  const leases = expired.map(({ eventId }) => ({ eventId, webhookId, lease, hasTurn: false }))
  if (leases.length > 0) await dropLeases(deps.db, leases, now)
  give(deps, replay, running, rows, leaseUntil)
  return rows.length
}

/** Adds the next events. `more` is false if there are none after them. */
async function add(deps: StepDeps, replay: TakenReplay, running: Running, take: number): Promise<Added> {
  const now = deps.clock.now()
  const leaseUntil = new Date(now.getTime() + leaseMs)
  const scan = Math.max(running.scan, take)
  const added = await addOwned(deps, replay, { scan, take, now, lease: running.lease, leaseUntil })
  if (added.count > 0) deps.db.notify(replay.workspaceId, 'deliveries')
  running.scan = added.count < take ? Math.min(scanMax, scan * 2) : take
  give(deps, replay, running, added.leased, leaseUntil)
  return added
}

async function addOwned(
  { db, owner }: StepDeps,
  replay: TakenReplay,
  input: { scan: number; take: number; now: Date; lease: string | null; leaseUntil: Date },
): Promise<Added> {
  const added = await addNext(db, coverageOf(replay), { replayId: replay.id, owner, ...input })
  if (!added) throw new ReplayLost()
  return added
}

function give(
  { worker }: StepDeps,
  { id: replayId, webhookId, workspaceId }: TakenReplay,
  { pace, lease }: Running,
  rows: readonly LeasedRow[],
  leaseUntil: Date,
): void {
  const start = {
    attempts: 0,
    trigger: 'replay',
    hasTurn: false,
    lease,
    leaseUntilMs: leaseUntil.getTime(),
  } as const
  const items = rows.flatMap(({ type, body, ...row }) =>
    type === null || body === null ? [] : [{ ...row, type, body, webhookId, workspaceId, replayId, pace, ...start }],
  )
  if (items.length > 0) worker.take(items)
}

/**
 * Sends nothing for now. A failing endpoint gets one attempt at a time, in whatever process: one delivery of the replay is there
 * to be claimed, in case that nothing else is due.
 */
async function holdBack(deps: StepDeps, replay: TakenReplay, running: Running, isFailing: boolean): Promise<number> {
  const { db, clock, worker } = deps
  running.pace.wait()
  running.reclaimAtMs = 0
  const waiting = worker.removeReplay(replay.webhookId, replay.id)
  if (waiting.length > 0) await releaseLeases(db, waiting, clock.now())
  if (!isFailing) return waitingEveryMs
  const now = clock.now()
  if (!(await hasUnattempted(db, replay.id))) {
    await addOwned(deps, replay, { scan: scanMax, take: 1, now, lease: null, leaseUntil: now })
  }
  await planVisits(db, replay.workspaceId, [replay.webhookId], now)
  return waitingEveryMs
}

async function completeIfDone(
  { db, clock, log, owner }: StepDeps,
  { id, workspaceId, webhookId }: TakenReplay,
): Promise<number | null> {
  const counts = await complete(db, id, owner, clock.now())
  if (!counts) return waitingEveryMs
  db.notify(workspaceId, 'webhooks')
  const fields = { event: 'replay.completed', replay_id: id, webhook_id: webhookId, ...counts } as const
  log.info(fields, 'completed a replay')
  return null
}

/** Drops what a cancelled replay has not sent. */
async function dropUnsent(
  { db, clock, worker, owner }: StepDeps,
  { id: replayId, workspaceId, webhookId }: TakenReplay,
  { lease }: Running,
): Promise<number | null> {
  const eventIds = worker.removeReplay(webhookId, replayId).map(({ eventId }) => eventId)
  const now = clock.now()
  return db.transaction(async (tx) => {
    await lockEndpoints(tx, [webhookId])
    const input = { replayId, webhookId, now, lease, eventIds, limit: dropMax }
    const dropped = await withOrderedLookups(tx, (lookups) => dropCancelled(lookups, input))
    if (dropped?.kept) await planVisits(tx, workspaceId, [webhookId], now)
    tx.notify(workspaceId, 'deliveries')
    return (await endCancelled(tx, replayId, owner, now)) ? null : stepMs.min
  })
}

const coverageOf = ({ workspaceId, webhookId, covers, senders, from, to, ...replay }: TakenReplay): Coverage => ({
  workspaceId,
  webhookId,
  covers,
  senders,
  from,
  to,
  types: typesOf(replay),
})
