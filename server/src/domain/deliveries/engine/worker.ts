import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../../db/db.ts'
import { batched } from '../../../lib/batch.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { FirstAttempts, Lease, LeasedDelivery } from '../../../lib/first-attempts.ts'
import { newUuid } from '../../../lib/ids.ts'
import type { Logger } from '../../../lib/logger.ts'
import type { Outbound, Posted } from '../../../lib/outbound.ts'
import type { SecretKeys } from '../../../lib/seal.ts'
import { headersOf, outcomeOf } from './attempt.ts'
import { claimDue, dropLeases, releaseLeases } from './claim.sql.ts'
import { type EndpointQueue, EndpointQueues } from './endpoint-queue.ts'
import { AttemptWriter } from './record-attempts.ts'
import { type Target, Targets } from './targets.ts'

export interface WorkerDeps {
  db: Database
  clock: Clock
  log: Logger
  secretKeys: SecretKeys
  outbound: Outbound
  productVersion: string
  /** Told when a delivery of this process is due before the next look. */
  onDue?: (dueAt: Date) => void
}

const leaseMs = 30_000
/** An attempt begins only if its lease lasts until it has surely ended. */
const attemptMs = 15_000
const underWayMax = 512
const queuedMax = 50_000
const unrecordedMax = 5_000
const claimMax = 500
/** While more than these are under way, refreshes of the targets begin some milliseconds apart: more attempts share one. */
const busyFrom = 8
const refreshEveryMs = 4
const refreshAgainMs = 200

interface Picked {
  queue: EndpointQueue
  item: LeasedDelivery
}

/**
 * Makes the deliveries of this process. It holds leases on deliveries: on those it published itself since they were written,
 * on the others since it claimed them. Each waits in its endpoint's queue until it is picked, is attempted, and its
 * result is recorded. A lease whose result is not recorded runs out, here or in a process that died, and the delivery is
 * claimed again.
 *
 * An attempt begins only after a refresh of the targets that started after it was picked. All that were picked by then
 * share the refresh, so a rotated secret, a changed URL or a disabled endpoint holds for everything in memory. While the
 * database is away no attempt begins.
 */
export class DeliveryWorker implements FirstAttempts {
  readonly #deps: WorkerDeps
  readonly #targets: Targets
  readonly #writer: AttemptWriter
  readonly #queues = new EndpointQueues()
  /** Picked from the queues, waiting for a refresh of the targets. */
  #picked: Picked[] = []
  #isRefreshing = false
  /** When the last refresh began, by the process's own clock. */
  #refreshedAt = Number.NEGATIVE_INFINITY
  /** Picked or being attempted. */
  #underWay = 0
  #entering = 0
  #stopping = false
  /** We end ourselves what is under way. */
  #cutting = false
  /** Leases that are given back when we stop. */
  #back: LeasedDelivery[] = []
  #onIdle: (() => void)[] = []
  readonly #userAgent: string
  readonly #giveBack: (item: LeasedDelivery) => Promise<unknown>
  readonly #hold: (item: LeasedDelivery) => Promise<unknown>

  constructor(deps: WorkerDeps) {
    this.#deps = deps
    this.#targets = new Targets(deps.db, deps.secretKeys, (webhookId, error) =>
      deps.log.error(
        { event: 'endpoint.secret_unreadable', err: error, webhook_id: webhookId },
        'cannot decrypt the secret of an endpoint: add its key to PARLEY_SECRET_KEYS or rotate the secret',
      ),
    )
    this.#writer = new AttemptWriter(deps.db, deps.log, () => this.#pump())
    this.#userAgent = `Parley/${deps.productVersion}`
    const release = (due: () => Date | 'infinity') =>
      batched(async (items: LeasedDelivery[]) => {
        await releaseLeases(deps.db, items, due())
        return items
      })
    this.#giveBack = release(() => deps.clock.now())
    this.#hold = release(() => 'infinity')
    deps.db.process.firstAttempts = this
  }

  newLease(now: Date): Lease | null {
    if (this.#stopping || this.#queues.queued > queuedMax) return null
    return { token: newUuid(), until: new Date(now.getTime() + leaseMs), except: [...this.#queues.full] }
  }

  take(items: readonly LeasedDelivery[]): void {
    this.#entering++
    // Yield first, so that the request whose transaction was committed gets its response before we start delivering.
    setImmediate(() => {
      this.#entering--
      this.#enter(items)
      this.#tellIdle()
    })
  }

  /** Claims what is due, as far as there is room; says how much it got. */
  async claim(): Promise<number> {
    const { db, clock } = this.#deps
    if (this.#stopping || this.#queues.queued > queuedMax) return 0
    // Nothing is claimed for an endpoint whose secret does not open; a rotation since then would otherwise go unnoticed.
    if (this.#targets.sealed.size > 0) await this.#targets.read([...this.#targets.sealed])
    const lease = newUuid()
    const now = clock.now()
    const leaseUntil = new Date(now.getTime() + leaseMs)
    const rows = await claimDue(db, {
      now,
      lease,
      leaseUntil,
      busy: this.#rooms(),
      usualRoom: claimMax,
      limit: claimMax,
    })
    const held = { lease, leaseUntilMs: leaseUntil.getTime() }
    const items = rows.flatMap(({ body, type, ...row }) =>
      body === null || type === null ? [] : [{ ...row, body, type, ...held }],
    )
    const gone = rows.filter((row) => row.body === null)
    if (gone.length > 0) {
      await dropLeases(
        db,
        gone.map((row) => ({ ...row, lease })),
      )
      const fields = { event: 'delivery.expired', deliveries: gone.length } as const
      this.#deps.log.warn(fields, 'deliveries expired with their events')
    }
    this.take(items)
    return rows.length
  }

  /** Makes every delivery that is due, and those that become due by that, until none is left. */
  async drain(): Promise<void> {
    do {
      await this.idle()
    } while ((await this.claim()) > 0)
    await this.idle()
  }

  /** Resolves when nothing waits, is under way or unrecorded. */
  async idle(): Promise<void> {
    for (;;) {
      await this.#writer.flush()
      if (this.#isIdle && this.#writer.backlog === 0) return
      if (!this.#isIdle) await new Promise<void>((resolve) => this.#onIdle.push(resolve))
    }
  }

  /** Begins nothing more, gives back what waits, and lets what is under way end, if it does so in time. */
  async stop(graceMs = 2_000): Promise<void> {
    this.#stopping = true
    const { process } = this.#deps.db
    if (process.firstAttempts === this) process.firstAttempts = null
    this.#back = this.#queues.clear()
    const closed = this.#targets.close()
    for (const { queue, item } of this.#picked.splice(0)) {
      this.#back.push(item)
      this.#over(queue, item, null)
    }
    await Promise.race([this.idle(), sleep(graceMs, undefined, { ref: false })])
    this.#cutting = true
    await this.#deps.outbound.close()
    // Without a database nothing can be recorded; then the leases run out.
    await Promise.race([Promise.all([this.idle(), closed]), sleep(2_000, undefined, { ref: false })])
    if (this.#back.length > 0) await releaseLeases(this.#deps.db, this.#back, this.#deps.clock.now())
  }

  get #isIdle(): boolean {
    return this.#underWay === 0 && this.#queues.queued === 0 && this.#entering === 0
  }

  #tellIdle(): void {
    if (this.#isIdle) for (const resolve of this.#onIdle.splice(0)) resolve()
  }

  #enter(items: readonly LeasedDelivery[]): void {
    for (const item of items) {
      if (this.#stopping) this.#back.push(item)
      else this.#queues.push(item)
    }
    this.#pump()
  }

  #pump(): void {
    while (this.#underWay < underWayMax && this.#writer.backlog < unrecordedMax) {
      const next = this.#queues.next()
      if (!next) break
      this.#underWay++
      this.#picked.push(next)
    }
    if (!this.#isRefreshing && this.#picked.length > 0) void this.#beginPicked()
  }

  async #beginPicked(): Promise<void> {
    this.#isRefreshing = true
    while (this.#picked.length > 0) {
      const waitMs = this.#underWay > busyFrom ? this.#refreshedAt + refreshEveryMs - performance.now() : 0
      if (waitMs > 0) await sleep(waitMs)
      this.#refreshedAt = performance.now()
      // What is picked from here on waits for the next refresh.
      const count = this.#picked.length
      const targets = await this.#readTargets(this.#picked.map(({ item }) => item.webhookId))
      if (!targets) continue
      for (const { queue, item } of this.#picked.splice(0, count)) {
        this.#begin(queue, item, targets.get(item.webhookId) ?? null)
      }
    }
    this.#isRefreshing = false
  }

  /** Null if they cannot be read just now. */
  async #readTargets(webhookIds: readonly string[]): Promise<ReadonlyMap<string, Target | null> | null> {
    try {
      return await this.#targets.read(webhookIds)
    } catch (error) {
      if (!this.#stopping) {
        const fields = { event: 'endpoint.read_failed', err: error } as const
        this.#deps.log.warn(fields, 'reading endpoints failed; no delivery attempt begins until it succeeds')
        await sleep(refreshAgainMs)
      }
      return null
    }
  }

  #begin(queue: EndpointQueue, item: LeasedDelivery, target: Target | null): void {
    const { clock, db } = this.#deps
    const now = clock.now()
    if (item.leaseUntilMs < now.getTime() + attemptMs) {
      this.#over(queue, item, null)
      return
    }
    if (target?.keys && (target.enabled || item.trigger === 'manual')) {
      this.#deps.outbound.post(target.url, headersOf(target.keys, item, now, this.#userAgent), item.body).then(
        (posted) => this.#ended(queue, item, now, posted),
        (error) => {
          const fields = { event: 'delivery.attempt_crashed', err: error, webhook_id: item.webhookId } as const
          this.#deps.log.error(fields, 'a delivery attempt failed unexpectedly; it is retried')
          this.#over(queue, item, null)
        },
      )
      return
    }
    // Deleted or disabled since it was taken; or nobody here can sign it, and whoever can may have it at once.
    const back = !target ? dropLeases(db, [item]) : target.enabled ? this.#giveBack(item) : this.#hold(item)
    back.catch(() => {}).finally(() => this.#over(queue, item, null))
  }

  /** How much is claimed of each endpoint: nothing of one whose secret does not open here. */
  #rooms(): { webhookId: string; room: number }[] {
    const { sealed } = this.#targets
    const rooms = this.#queues.rooms().filter(({ webhookId }) => !sealed.has(webhookId))
    for (const webhookId of sealed) rooms.push({ webhookId, room: 0 })
    return rooms
  }

  #ended(queue: EndpointQueue, item: LeasedDelivery, at: Date, posted: Posted): void {
    const success = posted.fault === null
    if (this.#cutting && !success) {
      this.#back.push(item)
      this.#over(queue, item, null)
      return
    }
    const endedAt = this.#deps.clock.now()
    const leaseUntil = new Date(endedAt.getTime() + leaseMs)
    const { ended, again } = outcomeOf(item, posted, { at, endedAt, leaseUntil })
    const { metrics } = this.#deps.db.process
    metrics.add('attempts', ended.state)
    metrics.time('attempts', posted.durationUs / 1000)
    if (posted.fault) {
      metrics.add('attempt errors', posted.fault)
      const fields = { webhook_id: item.webhookId, event_id: item.eventId, attempt: item.attempts + 1 }
      const failure = {
        event: 'delivery.attempt_failed',
        ...fields,
        error: posted.fault,
        status: posted.status,
      } as const
      this.#deps.log.debug(failure, 'a delivery attempt failed')
    }
    const end = () => this.#over(queue, item, success, posted.durationUs / 1000)
    // One that keeps failing is tried again only when it is known whether this was its last chance.
    const waits = !success && queue.isProbing
    this.#writer.add(waits ? { ...ended, onRecorded: end } : ended)
    if (again) this.#enter([again])
    else if (ended.dueAt) this.#deps.onDue?.(ended.dueAt)
    if (!waits) end()
  }

  #over(queue: EndpointQueue, item: LeasedDelivery, success: boolean | null, ms = 0): void {
    this.#underWay--
    this.#queues.done(queue, item, success, ms)
    this.#pump()
    this.#tellIdle()
  }
}
