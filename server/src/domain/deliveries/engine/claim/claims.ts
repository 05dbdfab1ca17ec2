import type { Database } from '../../../../db/db.ts'
import type { Clock } from '../../../../lib/clock.ts'
import { newUuid } from '../../../../lib/ids.ts'
import type { Logger } from '../../../../telemetry/logger.ts'
import type { Targets } from '../attempt/targets.ts'
import { type Conversation, type LeasedDelivery, leaseMs } from '../first-attempts.ts'
import { conversationOf, findMissed } from '../order.ts'
import { type EndpointQueues, queuedMax } from '../queue/endpoint-queues.ts'
import { claimInTurn, visitMax } from '../visits.ts'
import { dropLeases } from './claim.sql.ts'

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

/** Leases due deliveries for the worker, up to the capacity of its queues. */
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
    const { missed, more } = await findMissed(db)
    if (!more) this.#foundMissedMs = nowMs
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
