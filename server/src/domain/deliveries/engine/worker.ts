import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../../db/db.ts'
import { subscribe } from '../../../db/topic.ts'
import { wakeHere } from '../../../db/wake.ts'
import type { Clock } from '../../../lib/clock.ts'
import { newUuid } from '../../../lib/ids.ts'
import type { SecretKeys } from '../../../lib/seal.ts'
import type { Outbound, Posted } from '../../../net/outbound.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import { headersOf, outcomeOf } from './attempt/attempt.ts'
import { AttemptWriter } from './attempt/record-attempts.ts'
import { pacedGapMs } from './attempt/retry-policy.ts'
import { signaturesIn } from './attempt/signature.ts'
import { type Target, Targets } from './attempt/targets.ts'
import { Claims } from './claim/claims.ts'
import { WorkerLeases } from './claim/worker-leases.ts'
import {
  type Conversation,
  type DeliveryTaker,
  type FirstAttempts,
  firstAttempts,
  type HandedDelivery,
  type Lease,
  type LeasedDelivery,
  leaseMs,
} from './first-attempts.ts'
import { conversationOf, newStarter } from './order.ts'
import type { EndpointQueue } from './queue/endpoint-queue.ts'
import { EndpointQueues, queuedMax } from './queue/endpoint-queues.ts'

export interface WorkerDeps {
  db: Database
  clock: Clock
  log: Logger
  secretKeys: SecretKeys
  outbound: Outbound
  productVersion: string
  /** Called when a delivery of this process becomes due before the next poll. */
  onDue?: (dueAt: Date) => void
}

/** The longest an attempt takes. It starts only if its lease lasts at least this long. */
const attemptMaxMs = 15_000
const unrecordedMax = 5_000
/** With more full endpoints than fit into a notification, the worker takes no deliveries of other processes. */
const announcedFullMax = 150
const readRetryMs = 200

interface PickedDelivery {
  queue: EndpointQueue
  item: LeasedDelivery
}

/**
 * Makes delivery attempts. The worker holds a lease on every delivery in its memory: those that this process published, or
 * that another one handed over, are leased when they are inserted, the others when they are claimed. A delivery waits in its endpoint's queue until it is
 * picked and attempted, and then the result is recorded. If no result is recorded, for example because the process died,
 * the lease expires and a worker claims the delivery again. While this worker has results that it could not record, it claims
 * nothing if one of their leases has ended: they are recorded under those leases, unless another process has claimed their delivery.
 *
 * An attempt starts only with a target (URL, secret, enabled) that `Targets` knows to be current, so a rotated secret, a
 * changed URL or a disabled endpoint also takes effect for deliveries that are already in memory. While the database is
 * unreachable, no attempt starts.
 */
export class DeliveryWorker implements FirstAttempts, DeliveryTaker {
  readonly #deps: WorkerDeps
  readonly #targets: Targets
  readonly #writer: AttemptWriter
  readonly #queues = new EndpointQueues()
  #isPumping = false
  /** Picked from the queues, waiting until their targets are read. */
  #picked: PickedDelivery[] = []
  #isReading = false
  /** How many deliveries are picked or being attempted. */
  #inFlight = 0
  /** Calls of `take` whose deliveries are not queued yet. */
  #pendingTakes = 0
  #stopping = false
  /** Set when `stop` closes the connections of attempts that are still in flight. */
  #aborting = false
  /** The last claim. */
  #claiming: Promise<unknown> = Promise.resolve()
  #onIdle: (() => void)[] = []
  readonly #userAgent: string
  readonly #leases: WorkerLeases
  /** Starts the next delivery of a conversation, if none is in progress. */
  readonly #startNext: (conversation: Conversation) => Promise<unknown>
  readonly #claims: Claims
  readonly #unsubscribe: () => void

  constructor(deps: WorkerDeps) {
    this.#deps = deps
    this.#targets = new Targets(deps.db, deps.clock, deps.secretKeys, (webhookId, error) =>
      deps.log.error(
        { event: 'endpoint.secret_unreadable', err: error, webhook_id: webhookId },
        'cannot decrypt the secret of an endpoint: add its key to PARLEY_SECRET_KEYS or rotate the secret',
      ),
    )
    this.#writer = new AttemptWriter(deps.db, deps.log, () => this.#pump())
    this.#userAgent = `Parley/${deps.productVersion}`
    this.#leases = new WorkerLeases(deps.db, deps.clock)
    this.#startNext = newStarter({ ...deps, worker: this })
    this.#claims = new Claims({
      ...deps,
      queues: this.#queues,
      targets: this.#targets,
      worker: this,
      isClosed: () => this.#isClosed,
    })
    this.#unsubscribe = subscribe(deps.db, firstAttempts, this)
  }

  newLease(now: Date): Lease | null {
    if (this.#stopping || this.#queues.queued > queuedMax) return null
    return { token: newUuid(), until: new Date(now.getTime() + leaseMs), except: [...this.#queues.full] }
  }

  take(items: readonly LeasedDelivery[]): void {
    this.#pendingTakes++
    // Yield first, so that the webhook or request that published these is acknowledged before we start delivering.
    setImmediate(() => {
      this.#pendingTakes--
      this.#enqueue(items)
      this.#notifyIdle()
    })
  }

  startNext(conversations: readonly Conversation[]): void {
    this.#pendingTakes++
    this.startAll(conversations)
      .catch((error: unknown) => {
        const fields = { event: 'delivery.next_failed', err: error, conversations: conversations.length } as const
        this.#deps.log.warn(fields, 'starting the next deliveries of conversations failed; the next claim does it')
      })
      .finally(() => {
        this.#pendingTakes--
        this.#notifyIdle()
      })
  }

  full(): readonly string[] | null {
    const full = [...this.#queues.full]
    return this.#stopping || this.#queues.queued > queuedMax || full.length > announcedFullMax ? null : full
  }

  receive(handed: readonly HandedDelivery[]): void {
    this.#pendingTakes++
    Promise.all(handed.map((each) => this.#leases.read(each)))
      .then((found) => this.#enqueue(found.filter((each) => each !== null)))
      // They are claimed when their leases end.
      .catch((error: unknown) => {
        const fields = { event: 'delivery.hand_over_failed', err: error, deliveries: handed.length } as const
        this.#deps.log.warn(
          fields,
          'reading deliveries of another process failed; they are claimed when their leases end',
        )
      })
      .finally(() => {
        this.#pendingTakes--
        this.#notifyIdle()
      })
  }

  /** How many more deliveries of a replay to give to `take`. */
  capacityFor(webhookId: string, workspaceId: string, replayId: string, most: number): number {
    return this.#isClosed ? 0 : this.#queues.capacityFor(webhookId, workspaceId, replayId, most)
  }

  /** Begins the attempts of replays that their pace allows by now. */
  beginReplays(): void {
    this.#queues.scheduleReplays()
    this.#pump()
  }

  /** Removes and returns the deliveries of a replay that have not been picked. Their leases stay. */
  removeReplay(webhookId: string, replayId: string): LeasedDelivery[] {
    const removed = this.#queues.removeReplay(webhookId, replayId)
    this.#notifyIdle()
    return removed
  }

  /** Endpoints whose secret this process cannot decrypt. */
  get unreadable(): ReadonlySet<string> {
    return this.#targets.unreadable
  }

  /** Claims due deliveries up to the capacity of the queues. Returns how many were claimed. */
  claim(): Promise<number> {
    const claiming = this.#claims.run()
    this.#claiming = claiming.catch(() => {})
    return claiming
  }

  startAll(conversations: readonly Conversation[]): Promise<unknown> {
    return Promise.all(conversations.map((each) => this.#startNext(each)))
  }

  /** Attempts all due deliveries, including immediate retries, until none is due. */
  async drain(): Promise<void> {
    do {
      await this.idle()
    } while ((await this.claim()) > 0)
    await this.idle()
  }

  /** Resolves when nothing is queued, in flight or unrecorded. */
  async idle(): Promise<void> {
    for (;;) {
      await this.#writer.flush()
      if (this.#isIdle && this.#writer.backlog === 0) return
      if (!this.#isIdle) await new Promise<void>((resolve) => this.#onIdle.push(resolve))
    }
  }

  /**
   * Starts no more attempts, releases queued deliveries, and gives attempts in flight `graceMs` to finish. What is queued is
   * released first, so that another process continues without delay. It stays the process's `taker`: what others hand over before
   * they notice is released too.
   */
  async stop(graceMs = 2_000): Promise<void> {
    this.#stopping = true
    this.#unsubscribe()
    this.#leases.releaseLater(...this.#queues.clear())
    const targetsClosed = this.#targets.close()
    for (const { queue, item } of this.#picked.splice(0)) {
      this.#leases.releaseLater(item)
      this.#finish(queue, item, null)
    }
    const released = this.#leases.releaseAll().catch(() => {})
    await Promise.race([this.idle(), sleep(graceMs, undefined, { ref: false })])
    this.#aborting = true
    await this.#deps.outbound.close()
    // If the database is unreachable, nothing can be recorded and the leases expire.
    const rest = Promise.all([this.idle(), this.#claiming, targetsClosed])
    await Promise.race([rest, sleep(2_000, undefined, { ref: false })])
    await Promise.all([released, this.#leases.late])
    await this.#leases.releaseAll()
  }

  /** While the database is unreachable, leases of attempts end that are not recorded. Recording them comes first. */
  get #isClosed(): boolean {
    return this.#stopping || this.#writer.hasExpired(this.#deps.clock.now())
  }

  get #isIdle(): boolean {
    return this.#inFlight === 0 && this.#queues.queued === 0 && this.#pendingTakes === 0
  }

  #notifyIdle(): void {
    if (this.#isIdle) for (const resolve of this.#onIdle.splice(0)) resolve()
  }

  #enqueue(items: readonly LeasedDelivery[]): void {
    if (this.#stopping) {
      // Published or claimed by a transaction that was in progress when the worker stopped.
      this.#leases.releaseLate(items)
      return
    }
    for (const item of items) this.#queues.push(item)
    this.#pump()
  }

  #pump(): void {
    // An attempt that cannot start ends at once, and would call this again for each delivery of the queue.
    if (this.#isPumping) return
    this.#isPumping = true
    const { tracing } = this.#deps.db.telemetry
    while (this.#writer.backlog < unrecordedMax) {
      const next = this.#queues.next()
      if (!next) break
      this.#inFlight++
      if (tracing || this.#picked.length > 0 || !this.#start(next)) this.#picked.push(next)
    }
    this.#isPumping = false
    if (!this.#isReading && this.#picked.length > 0) void this.#startPicked()
  }

  async #startPicked(): Promise<void> {
    this.#isReading = true
    while (this.#picked.length > 0) {
      const items = this.#picked.map(({ item }) => item)
      const [isRead] = await Promise.all([this.#readTargets(items), this.#deps.db.telemetry.tracing?.load(items)])
      if (!isRead) continue
      // Those that were picked meanwhile wait for the next read.
      this.#picked.unshift(...this.#picked.splice(0, items.length).filter((next) => !this.#start(next)))
    }
    this.#isReading = false
  }

  /** False if the read failed. */
  async #readTargets(items: readonly LeasedDelivery[]): Promise<boolean> {
    try {
      await this.#targets.read(items.map(({ webhookId }) => webhookId))
      return true
    } catch (error) {
      if (!this.#stopping) {
        const fields = { event: 'endpoint.read_failed', err: error } as const
        this.#deps.log.warn(fields, 'reading endpoints failed; no delivery attempt starts until it succeeds')
        await sleep(readRetryMs)
      }
      return false
    }
  }

  /** Starts an attempt. False if its target has to be read first. */
  #start({ queue, item }: PickedDelivery): boolean {
    const target = this.#targets.get(item.webhookId)
    if (target === undefined) return false
    this.#startAttempt(queue, item, target)
    return true
  }

  #startAttempt(queue: EndpointQueue, item: LeasedDelivery, target: Target | null): void {
    const now = this.#deps.clock.now()
    // The lease could expire during the attempt: leave the delivery to the worker that claims it then.
    if (item.leaseUntilMs < now.getTime() + attemptMaxMs) {
      this.#finish(queue, item, null)
      return
    }
    const { keys, secretChangedAt } = target ?? {}
    const mayStart =
      target &&
      (!target.isPaced || item.hasTurn) &&
      (target.enabled || item.trigger === 'manual') &&
      (item.pace?.isOwned ?? true)
    if (keys && secretChangedAt !== undefined && mayStart) {
      const headers = headersOf(keys, item, now, this.#userAgent)
      const signatures = signaturesIn(headers)
      headers.push(...target.headers)
      const { tracing } = this.#deps.db.telemetry
      const span = tracing?.beginAttempt(item)
      if (span && !target.headers.includes('traceparent')) headers.push('traceparent', span.traceparent)
      item.pace?.begin(item)
      this.#deps.outbound.post(target.url, headers, item.body, item.workspaceId).then(
        (posted) => {
          if (posted && span) tracing?.endAttempt(span, item, posted)
          if (posted) this.#onAttemptEnded(queue, item, { at: now, secretChangedAt, signatures }, posted)
          else
            void this.#leases
              .postpone(item)
              .catch(() => {})
              .finally(() => this.#finish(queue, item, null))
        },
        (error) => {
          const fields = { event: 'delivery.attempt_crashed', err: error, webhook_id: item.webhookId } as const
          this.#deps.log.error(fields, 'a delivery attempt failed unexpectedly; it is retried')
          this.#finish(queue, item, null)
        },
      )
      return
    }
    // No target: the endpoint was deleted. Otherwise the delivery is claimed when it is its turn, when the endpoint is enabled,
    // or, if this process cannot decrypt the secret or has lost its replay, by another one immediately.
    const released = !target
      ? this.#leases.drop(item)
      : target.isPaced
        ? Promise.all([item, ...this.#queues.removeWithoutTurn(queue)].map((each) => this.#leases.release(each)))
        : this.#leases.release(item)
    released.catch(() => {}).finally(() => this.#finish(queue, item, null))
  }

  #onAttemptEnded(
    queue: EndpointQueue,
    item: LeasedDelivery,
    began: { at: Date; secretChangedAt: Date | null; signatures: string },
    posted: Posted,
  ): void {
    const success = posted.fault === null
    if (this.#aborting && !success) {
      this.#leases.releaseLater(item)
      this.#finish(queue, item, null)
      return
    }
    const endedAt = this.#deps.clock.now()
    const leaseUntil = new Date(endedAt.getTime() + leaseMs)
    const { ended, immediateRetry } = outcomeOf(item, posted, { ...began, endedAt, leaseUntil })
    const { metrics } = this.#deps.db.telemetry
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
    const finish = () => {
      // What was recorded may have begun or ended the pacing of the endpoint.
      if (waitsForRecord) this.#targets.expire()
      this.#finish(queue, item, success, posted.durationUs / 1000)
      // The endpoint works again: its other deliveries can be claimed.
      if (item.hasTurn && success) wakeHere(this.#deps.db, 'deliveries')
    }
    // Recording this failure may pace or disable the endpoint, so a failing queue waits for it before its next attempt.
    const waitsForRecord = item.hasTurn || (!success && queue.isFailing)
    // Those that wait for it go on as soon as that is recorded.
    const next = ended.dueAt === null ? conversationOf(item) : []
    if (next.length > 0) {
      const onRecorded = () => {
        this.startNext(next)
        if (waitsForRecord) finish()
      }
      this.#writer.add({ ...ended, onRecorded })
    } else this.#writer.add(waitsForRecord ? { ...ended, onRecorded: finish } : ended)
    if (immediateRetry) this.#enqueue([immediateRetry])
    else if (ended.dueAt && !waitsForRecord) this.#deps.onDue?.(ended.dueAt)
    if (waitsForRecord) this.#deps.onDue?.(new Date(endedAt.getTime() + pacedGapMs))
    if (!waitsForRecord) finish()
  }

  /** `success` is null if no attempt was made. */
  #finish(queue: EndpointQueue, item: LeasedDelivery, success: boolean | null, ms = 0): void {
    this.#inFlight--
    this.#queues.done(queue, item, success, ms)
    this.#pump()
    this.#notifyIdle()
  }
}
