import type { Db } from '../../../../db/db.ts'
import type { Clock } from '../../../../lib/clock.ts'
import { batched } from '../../../../sharing/batch.ts'
import { postponedMs } from '../attempt/retry-policy.ts'
import type { HandedDelivery, LeasedDelivery } from '../first-attempts.ts'
import { dropLeases, readLeased, releaseLeases } from './claim.sql.ts'

/**
 * How a worker gets and returns the leases of deliveries that it does not attempt. Concurrent calls share a statement. When a
 * worker stops, all its leases are collected and released together, so that other processes continue without delay.
 */
export class WorkerLeases {
  /** Reads a delivery that was handed over. Null if another worker has its lease by now. */
  readonly read: (handed: HandedDelivery) => Promise<LeasedDelivery | null>
  /** Releases the lease; the delivery is due immediately. */
  readonly release: (item: LeasedDelivery) => Promise<unknown>
  /** Releases the lease; the delivery is due soon. No attempt was made, so none counts. */
  readonly postpone: (item: LeasedDelivery) => Promise<unknown>
  /** Deletes the delivery: its endpoint is deleted. */
  readonly drop: (item: LeasedDelivery) => Promise<unknown>
  readonly #db: Db
  readonly #clock: Clock
  readonly #later: LeasedDelivery[] = []
  #late: Promise<unknown> = Promise.resolve()

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
    const batchedRelease = (dueAt: () => Date) =>
      batched(async (items: LeasedDelivery[]) => {
        await releaseLeases(db, items, dueAt())
        return items
      })
    this.release = batchedRelease(() => clock.now())
    this.postpone = batchedRelease(() => new Date(clock.now().getTime() + postponedMs))
    this.read = batched(async (handed: HandedDelivery[]) => {
      const found = new Map((await readLeased(db, handed)).map((each) => [each.webhookId + each.eventId, each]))
      return handed.map(({ webhookId, eventId }) => found.get(webhookId + eventId) ?? null)
    })
    this.drop = batched(async (items: LeasedDelivery[]) => {
      await dropLeases(db, items, clock.now())
      return items
    })
  }

  /** The next `releaseAll` releases these. */
  releaseLater(...items: readonly LeasedDelivery[]): void {
    this.#later.push(...items)
  }

  /** If it fails, the next call tries again. */
  async releaseAll(): Promise<void> {
    const items = this.#later.splice(0)
    if (items.length === 0) return
    try {
      await releaseLeases(this.#db, items, this.#clock.now())
    } catch (error) {
      this.#later.push(...items)
      throw error
    }
  }

  /** Releases deliveries that arrived after the stop. */
  releaseLate(items: readonly LeasedDelivery[]): void {
    this.#late = Promise.all([this.#late, ...items.map((item) => this.release(item).catch(() => {}))])
  }

  /** Resolves when `releaseLate` has ended. */
  get late(): Promise<unknown> {
    return this.#late
  }
}
