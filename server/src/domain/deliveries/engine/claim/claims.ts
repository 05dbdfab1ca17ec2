import type { Database, Db } from '../../../../db/db.ts'
import { withOrderedLookups } from '../../../../db/planner-settings.ts'
import type { Clock } from '../../../../lib/clock.ts'
import { newUuid } from '../../../../lib/ids.ts'
import type { Logger } from '../../../../telemetry/logger.ts'
import type { Targets } from '../attempt/targets.ts'
import { type Conversation, type LeasedDelivery, leaseMs } from '../first-attempts.ts'
import { missedLooks } from '../order.sql.ts'
import { conversationOf, startMax } from '../order.ts'
import { type EndpointQueues, queuedMax } from '../queue/endpoint-queues.ts'
import { type ClaimedRow, claimDue, dropLeases, takeVisits, type Visit } from './claim.sql.ts'

/** How often claims look for conversations whose next delivery was not started. */
const findMissedEveryMs = 1_000

interface ClaimsDeps {
  db: Database
  clock: Clock
  log: Logger
  queues: EndpointQueues
  targets: Targets
  worker: {
    take(items: readonly LeasedDelivery[]): void
    startNext(conversations: readonly Conversation[]): void
    startAll(conversations: readonly Conversation[]): Promise<unknown>
  }
  /** Nothing may be claimed: the worker stops, or has to record attempts first. */
  isClosed(): boolean
}

/**
 * Leases due deliveries for the worker, up to the capacity of its queues. Claims visit endpoints in turn, the longest wait first.
 * Each workspace has the same share of a claim.
 */
export class Claims {
  readonly #deps: ClaimsDeps
  /** When the last claim looked for missed conversations. */
  #foundMissedMs = Number.NEGATIVE_INFINITY

  constructor(deps: ClaimsDeps) {
    this.#deps = deps
  }

  /** Returns how many were claimed. */
  async run(): Promise<number> {
    const { targets, queues, isClosed } = this.#deps
    // Nothing is claimed for endpoints with an unreadable secret, so read them again here: it may have been rotated.
    if (targets.unreadable.size > 0) await targets.read([...targets.unreadable])
    const missed = await this.#startMissed()
    for (;;) {
      if (isClosed() || queues.queued > queuedMax) return 0
      const { visited, claimed } = await this.#visitEndpoints()
      if (claimed > 0 || visited < visitMax) return claimed + missed
    }
  }

  /** Once a second, and again while there are more. Returns how many were found. */
  async #startMissed(): Promise<number> {
    const { db, clock, worker, isClosed } = this.#deps
    const nowMs = clock.now().getTime()
    if (isClosed() || nowMs - this.#foundMissedMs < findMissedEveryMs) return 0
    const missed = await missedLooks(db, startMax)
    if (missed.length < startMax) this.#foundMissedMs = nowMs
    await worker.startAll(missed)
    return missed.length
  }

  async #visitEndpoints(): Promise<{ visited: number; claimed: number }> {
    const { db, clock, log, queues, targets, worker } = this.#deps
    const lease = newUuid()
    const now = clock.now()
    const leaseUntil = new Date(now.getTime() + leaseMs)
    queues.deleteIdle()
    const except = [...queues.withoutCapacity(), ...targets.unreadable]
    const capacityOf = queues.capacityOf.bind(queues)
    const { visited, rows } = await claimInTurn(db, { now, lease, leaseUntil, except, capacityOf })
    const leased = { lease, leaseUntilMs: leaseUntil.getTime() }
    const items = rows.flatMap(({ body, type, ...row }) =>
      body === null || type === null ? [] : [{ ...row, body, type, ...leased }],
    )
    const expired = rows.filter((row) => row.body === null).map((row) => ({ ...row, lease }))
    if (expired.length > 0) {
      await dropLeases(db, expired, now)
      const fields = { event: 'delivery.expired', deliveries: expired.length } as const
      log.warn(fields, 'deliveries expired with their events')
      worker.startNext(expired.flatMap(conversationOf))
    }
    // The claim has read which endpoints are enabled, and whose turn it is. The targets in memory may be older.
    if (items.length > 0) targets.expire()
    worker.take(items)
    return { visited, claimed: rows.length }
  }
}

/** Endpoints per claim: as many as a workspace has by default, so that it takes one claim to come to the next workspace. */
const visitMax = 100

/** Deliveries per claim: each costs about 30 µs of PostgreSQL, and a claim should take less than 20 ms. */
const claimMax = 300

/** Claims due deliveries of the endpoints whose visits are due. */
export async function claimInTurn(
  db: Db,
  input: {
    now: Date
    lease: string
    leaseUntil: Date
    /** Endpoints to leave to other processes. */
    except: readonly string[]
    capacityOf: (webhookId: string, workspaceId: string) => number
  },
): Promise<{ visited: number; rows: ClaimedRow[] }> {
  const { except, capacityOf, ...claim } = input
  return withOrderedLookups(db, async (tx) => {
    const visits = await takeVisits(tx, { now: claim.now, except, limit: visitMax })
    if (visits.length === 0) return { visited: 0, rows: [] }
    const shares = shareClaim(oncePerEndpoint(visits), claimMax, capacityOf)
    return { visited: visits.length, rows: await claimDue(tx, { ...claim, visits: shares }) }
  })
}

/** One visit per endpoint: the earliest step of several. */
function oncePerEndpoint(visits: readonly Visit[]): Visit[] {
  const byEndpoint = new Map<string, Visit>()
  for (const visit of visits) {
    const other = byEndpoint.get(visit.webhookId)
    if (!other || visit.step < other.step) byEndpoint.set(visit.webhookId, visit)
  }
  return [...byEndpoint.values()]
}

/**
 * How many deliveries a claim takes of each endpoint: every workspace has the same share of `limit`, and within it every
 * endpoint, up to its capacity.
 */
export function shareClaim(
  visits: readonly Visit[],
  limit: number,
  capacityOf: (webhookId: string, workspaceId: string) => number,
): (Visit & { take: number })[] {
  const byWorkspace = Map.groupBy(visits, ({ workspaceId }) => workspaceId)
  const ofWorkspace = limit / byWorkspace.size
  return visits.map((visit) => {
    const endpoints = byWorkspace.get(visit.workspaceId)?.length ?? 1
    const capacity = capacityOf(visit.webhookId, visit.workspaceId)
    return { ...visit, take: Math.min(capacity, Math.max(1, Math.floor(ofWorkspace / endpoints))) }
  })
}
