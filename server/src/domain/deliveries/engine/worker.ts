import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../../db/db.ts'
import { subscribe } from '../../../db/topic.ts'
import { wakeHere } from '../../../db/wake.ts'
import type { Clock } from '../../../lib/clock.ts'
import { newUuid } from '../../../lib/ids.ts'
import type { SecretKeys } from '../../../lib/seal.ts'
import type { Outbound, Posted } from '../../../net/outbound.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import { headersOf, outcomeOf, reportAttempt } from './attempt/attempt.ts'
import { AttemptWriter } from './attempt/record-attempts.ts'
import { pacedGapMs } from './attempt/retry-policy.ts'
import { type SigningKeys, signaturesIn } from './attempt/signature.ts'
import { type Target, Targets } from './attempt/targets.ts'
import { type Picked, WithTargets } from './attempt/with-targets.ts'
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

/**
 * Makes delivery attempts. The states of a delivery in this process, which holds its lease all the time:
 *
 *   queued    take (published here), receive (by another process), claim (all others), or an immediate retry
 *     ↓       its endpoint, its workspace and this process may make another attempt (#pump)
 *   picked    waits until the target is known to be current: URL, secret, enabled (WithTargets)
 *     ↓       the lease lasts long enough and the endpoint may get it (#start); otherwise it is released, dropped or left
 *   in flight outbound.post
 *     ↓       the receiver has responded, or failed (#onEnded)
 *   ended     waits for the next recording (AttemptWriter): finished, or due again
 *
 * The slot of an attempt is free when it has ended (#finish); at a failing endpoint, when it is recorded. If no result is
 * recorded, for example because the process died, the lease expires and a worker claims the delivery again. While this worker
 * has results that it could not record, it claims nothing if one of their leases has ended: they are recorded under those
 * leases, unless another process has claimed their delivery.
 */
export class DeliveryWorker implements FirstAttempts, DeliveryTaker {
  readonly #deps: WorkerDeps
  readonly #targets: Targets
  readonly #writer: AttemptWriter
  readonly #queues = new EndpointQueues()
  readonly #picked: WithTargets
  #isPumping = false
  /** How many deliveries are picked or in flight. */
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
        { event: 'webhook.secret_unreadable', err: error, webhook_id: webhookId },
        'cannot decrypt the secret of a webhook: add its key to PARLEY_SECRET_KEYS or rotate the secret',
      ),
    )
    this.#picked = new WithTargets({ ...deps, targets: this.#targets }, (picked, target) => this.#start(picked, target))
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

  /** Claims due deliveries up to the capacity of the queues. Returns how many were claimed. */
  claim(): Promise<number> {
    const claiming = this.#claims.run()
    this.#claiming = claiming.catch(() => {})
    return claiming
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

  startAll(conversations: readonly Conversation[]): Promise<unknown> {
    return Promise.all(conversations.map((each) => this.#startNext(each)))
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
    try {
      while (this.#writer.backlog < unrecordedMax) {
        const picked = this.#queues.next()
        if (!picked) return
        this.#inFlight++
        this.#picked.add(picked)
      }
    } finally {
      this.#isPumping = false
    }
  }

  #start(picked: Picked, target: Target | null): void {
    const { item } = picked
    const now = this.#deps.clock.now()
    // The lease could expire during the attempt: leave the delivery to the worker that claims it then.
    if (item.leaseUntilMs < now.getTime() + attemptMaxMs) {
      this.#finish(picked, null)
      return
    }
    const mayStart =
      target &&
      (!target.isPaced || item.hasTurn) &&
      (target.enabled || item.trigger === 'manual') &&
      (item.pace?.isOwned ?? true)
    if (mayStart && target.keys) this.#post(picked, target, target.keys, now)
    else this.#giveUp(picked, target)
  }

  #post(picked: Picked, target: Target, keys: readonly SigningKeys[], at: Date): void {
    const { item } = picked
    const { url, secretChangedAt } = target
    const headers = headersOf(keys, item, at, this.#userAgent)
    const signatures = signaturesIn(headers)
    headers.push(...target.headers)
    const { tracing } = this.#deps.db.telemetry
    const span = tracing?.beginAttempt(item)
    if (span && !target.headers.includes('traceparent')) headers.push('traceparent', span.traceparent)
    item.pace?.begin(item)
    this.#deps.outbound.post(url, headers, item.body, item.workspaceId).then(
      (posted) => {
        if (posted && span) tracing?.endAttempt(span, item, posted)
        if (posted) this.#onEnded(picked, { at, secretChangedAt, signatures }, posted)
        else this.#finishAfter(picked, this.#leases.postpone(item))
      },
      (error) => {
        const fields = { event: 'delivery.attempt_crashed', err: error, webhook_id: item.webhookId } as const
        this.#deps.log.error(fields, 'a delivery attempt failed unexpectedly; it is retried')
        this.#finish(picked, null)
      },
    )
  }

  /**
   * Without a target the endpoint was deleted. Otherwise the delivery is claimed when it is its turn, when the endpoint is
   * enabled, or, if this process cannot decrypt the secret or has lost its replay, by another one immediately.
   */
  #giveUp(picked: Picked, target: Target | null): void {
    const { queue, item } = picked
    const others = target?.isPaced ? this.#queues.removeWithoutTurn(queue) : []
    const release = target ? this.#leases.release : this.#leases.drop
    this.#finishAfter(picked, Promise.all([item, ...others].map(release)))
  }

  #onEnded(
    picked: Picked,
    began: { at: Date; secretChangedAt: Date | null; signatures: string },
    posted: Posted,
  ): void {
    const { queue, item } = picked
    const success = posted.fault === null
    if (this.#aborting && !success) {
      this.#leases.releaseLater(item)
      this.#finish(picked, null)
      return
    }
    const endedAt = this.#deps.clock.now()
    const leaseUntil = new Date(endedAt.getTime() + leaseMs)
    const { ended, immediateRetry } = outcomeOf(item, posted, { ...began, endedAt, leaseUntil })
    reportAttempt(this.#deps, item, posted, ended.state)
    const finish = () => {
      // The recorded attempts may have begun or ended the pacing of the endpoint.
      if (waitsForRecord) this.#targets.expire()
      this.#finish(picked, success, posted.durationUs / 1000)
      // The endpoint works again: its other deliveries can be claimed.
      if (item.hasTurn && success) wakeHere(this.#deps.db, 'deliveries')
    }
    // Recording this failure may pace or disable the endpoint, so a failing queue waits for it before its next attempt.
    const waitsForRecord = item.hasTurn || (!success && queue.isFailing)
    // Deliveries that wait for it start as soon as it is recorded.
    const next = ended.dueAt === null ? conversationOf(item) : []
    const onRecorded = () => {
      if (next.length > 0) this.startNext(next)
      if (waitsForRecord) finish()
    }
    this.#writer.add(waitsForRecord || next.length > 0 ? { ...ended, onRecorded } : ended)
    if (immediateRetry) this.#enqueue([immediateRetry])
    else if (ended.dueAt && !waitsForRecord) this.#deps.onDue?.(ended.dueAt)
    if (waitsForRecord) this.#deps.onDue?.(new Date(endedAt.getTime() + pacedGapMs))
    if (!waitsForRecord) finish()
  }

  /** `success` is null if no attempt was made. */
  #finish({ queue, item }: Picked, success: boolean | null, ms = 0): void {
    this.#inFlight--
    this.#queues.done(queue, item, success, ms)
    this.#pump()
    this.#notifyIdle()
  }

  /** No attempt was made. If the release fails, the lease expires. */
  #finishAfter(picked: Picked, released: Promise<unknown>): void {
    released.catch(() => {}).finally(() => this.#finish(picked, null))
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
   * Starts no more attempts, releases queued deliveries, and gives attempts in flight `graceMs` to finish. The queue is
   * released first, so that another process continues without delay. The worker stays the process's `taker`, to release deliveries
   * that other processes hand over before they notice.
   */
  async stop(graceMs = 2_000): Promise<void> {
    this.#stopping = true
    this.#unsubscribe()
    this.#leases.releaseLater(...this.#queues.clear())
    const targetsClosed = this.#targets.close()
    for (const picked of this.#picked.close()) {
      this.#leases.releaseLater(picked.item)
      this.#finish(picked, null)
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
}
