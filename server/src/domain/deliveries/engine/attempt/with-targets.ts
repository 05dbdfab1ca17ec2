import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../../../db/db.ts'
import type { Logger } from '../../../../telemetry/logger.ts'
import type { LeasedDelivery } from '../first-attempts.ts'
import type { EndpointQueue } from '../queue/endpoint-queue.ts'
import { currentMs, type Target, type Targets } from './targets.ts'

/** A delivery that was taken from its queue. */
export interface Picked {
  queue: EndpointQueue
  item: LeasedDelivery
}

const readRetryMs = 200

/**
 * Starts picked deliveries with their targets: immediately if those are current, else after a read that all waiting ones share.
 * With tracing, what that knows of their events is read first too.
 */
export class WithTargets {
  readonly #deps: { db: Database; log: Logger; targets: Targets }
  readonly #start: (picked: Picked, target: Target | null) => void
  #waiting: Picked[] = []
  #isReading = false
  #isClosed = false
  /** Whether the last read took long, which is logged once. */
  #isLate = false

  /** A target of null was deleted. */
  constructor(
    deps: { db: Database; log: Logger; targets: Targets },
    start: (picked: Picked, target: Target | null) => void,
  ) {
    this.#deps = deps
    this.#start = start
  }

  add(picked: Picked): void {
    const isFirst = this.#waiting.length === 0 && !this.#deps.db.telemetry.tracing
    if (isFirst && this.#startNow(picked)) return
    this.#waiting.push(picked)
    if (!this.#isReading) void this.#startWaiting()
  }

  /** Starts nothing any more. Returns what waits. */
  close(): Picked[] {
    this.#isClosed = true
    return this.#waiting.splice(0)
  }

  /** False if its target has to be read first. `late` are targets that took long to read. */
  #startNow(picked: Picked, late: ReadonlyMap<string, Target | null> | null = null): boolean {
    const { webhookId } = picked.item
    const target = late ? (late.get(webhookId) ?? null) : this.#deps.targets.get(webhookId)
    if (target === undefined) return false
    this.#start(picked, target)
    return true
  }

  async #startWaiting(): Promise<void> {
    this.#isReading = true
    // All that are picked at the same time share the read.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const items = this.#waiting.map(({ item }) => item)
      const [read] = await Promise.all([this.#read(items), this.#deps.db.telemetry.tracing?.load(items)])
      if (!read) continue
      // Those that were added meanwhile wait for the next read.
      const known = this.#waiting.splice(0, items.length)
      this.#waiting.unshift(...known.filter((picked) => !this.#startNow(picked, read.late)))
    }
    this.#isReading = false
  }

  /** Null if the read failed. */
  async #read(items: readonly LeasedDelivery[]) {
    const { targets, log } = this.#deps
    try {
      const late = await targets.read(items.map(({ webhookId }) => webhookId))
      if (late && !this.#isLate) {
        const fields = { event: 'webhook.read_slow', longer_than_ms: currentMs } as const
        log.warn(
          fields,
          'reading webhooks takes long; until it succeeds, a changed webhook may get attempts with its old settings',
        )
      }
      this.#isLate = late !== null
      return { late }
    } catch (error) {
      if (!this.#isClosed) {
        const fields = { event: 'webhook.read_failed', err: error } as const
        log.warn(fields, 'reading webhooks failed; no delivery attempt starts until it succeeds')
        await sleep(readRetryMs)
      }
      return null
    }
  }
}
