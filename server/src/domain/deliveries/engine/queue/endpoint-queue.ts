import { Queue } from '../../../../sharing/queue.ts'
import { failuresBeforePacing } from '../attempt/retry-policy.ts'
import type { LeasedDelivery } from '../first-attempts.ts'
import { isPaced, PacedQueues } from './paced-queues.ts'

const initialConcurrency = 8
const concurrencyMax = 64
const queuedMax = 20_000
/** Before the first attempt has ended and shows how fast the receiver is. */
const queuedMaxUnknown = 1_000
const queuedMin = 64
const queuedMaxFailing = 100
/** A queue holds no more than it can attempt in this time. Leases last several times as long. */
const maxQueueMs = 5_000

/**
 * The queue of one endpoint, with a limit on concurrent attempts. The limit grows while attempts succeed and more are
 * queued, halves with each failure, and is 1 from the fifth failure in a row. From then on the database paces the attempts
 * of all processes (`claim.sql.ts`). Retries use at most a quarter of
 * it, so they do not displace first attempts. Replays use at most half of it, and only what nothing else waits for. Queued
 * deliveries are leased, so the queue takes no more than it can attempt soon; the rest stays in the database.
 */
export class EndpointQueue {
  readonly id: string
  readonly workspaceId: string
  #concurrency = initialConcurrency
  #failures = 0
  #running = 0
  #runningRetries = 0
  #runningReplays = 0
  /** Moving average of the duration of an attempt; 0 before the first one has ended. */
  #attemptMs = 0
  readonly #first = new Queue<LeasedDelivery>()
  readonly #retries = new Queue<LeasedDelivery>()
  readonly #replays = new PacedQueues()

  constructor(id: string, workspaceId: string) {
    this.id = id
    this.workspaceId = workspaceId
  }

  /** Without replays: they must not keep the queue from taking other deliveries. */
  get queued(): number {
    return this.#first.size + this.#retries.size
  }

  get hasReplays(): boolean {
    return !this.#replays.isEmpty
  }

  /** It has no state worth keeping and can be deleted. */
  get isIdle(): boolean {
    return this.#running === 0 && this.queued === 0 && !this.hasReplays && this.#failures === 0
  }

  /** Four or more failures in a row: with one more its attempts are paced. */
  get isFailing(): boolean {
    return this.#failures >= failuresBeforePacing - 1
  }

  /** How many more to claim. It is 0 until half of the queue is done, so that each claim gets a batch. */
  get capacity(): number {
    const limit = this.#limit
    return this.queued * 2 > limit ? 0 : limit - this.queued
  }

  get isFull(): boolean {
    return this.queued >= this.#limit
  }

  get #limit(): number {
    if (this.#failures >= failuresBeforePacing) return queuedMaxFailing
    if (this.#attemptMs === 0) return queuedMaxUnknown
    return Math.max(queuedMin, Math.min(queuedMax, Math.floor((this.#concurrency * maxQueueMs) / this.#attemptMs)))
  }

  /** How many more deliveries of a replay to take: no more than it can attempt soon, and at most `most` in all. */
  capacityFor(replayId: string, most: number): number {
    const soon = this.#attemptMs === 0 ? queuedMin : Math.floor((this.#replaysMax * maxQueueMs) / this.#attemptMs)
    return Math.min(most, Math.max(1, soon)) - this.#replays.sizeOf(replayId)
  }

  get #replaysMax(): number {
    return Math.max(1, this.#concurrency >> 1)
  }

  push(item: LeasedDelivery): void {
    if (isPaced(item)) this.#replays.push(item)
    else if (item.trigger === 'retry') this.#retries.push(item)
    else this.#first.push(item)
  }

  /** The next delivery that may start now. */
  next(): LeasedDelivery | undefined {
    if (this.#running >= this.#concurrency) return undefined
    const maxRetries = Math.max(1, this.#concurrency >> 2)
    const retry = this.#runningRetries < maxRetries ? this.#retries.shift() : undefined
    const other = retry ?? this.#first.shift()
    const replay = !other && this.#runningReplays < this.#replaysMax ? this.#replays.next() : undefined
    const item = other ?? replay
    if (!item) return undefined
    this.#running++
    if (retry) this.#runningRetries++
    if (replay) this.#runningReplays++
    return item
  }

  /** Call for every item that `next` returned. `success` is null if no attempt was made; `ms` is its duration. */
  done(item: LeasedDelivery, success: boolean | null, ms: number): void {
    this.#running--
    if (item.pace) {
      this.#runningReplays--
      item.pace.end(item)
    } else if (item.trigger === 'retry') this.#runningRetries--
    if (success === null) return
    this.#attemptMs = this.#attemptMs === 0 ? ms : this.#attemptMs * 0.9 + ms * 0.1
    if (success) {
      this.#failures = 0
      if (this.#concurrency < initialConcurrency) this.#concurrency = initialConcurrency
      else if (this.queued > 0 || this.hasReplays) this.#concurrency = Math.min(concurrencyMax, this.#concurrency + 1)
    } else {
      this.#failures++
      this.#concurrency = this.#failures >= failuresBeforePacing ? 1 : Math.max(1, this.#concurrency >> 1)
    }
  }

  /** Removes and returns all queued deliveries. */
  clear(): LeasedDelivery[] {
    return [...this.#first.clear(), ...this.#retries.clear(), ...this.#replays.clear()]
  }

  /** Removes and returns what is queued of a replay. */
  clearReplay(replayId: string): LeasedDelivery[] {
    return this.#replays.clear(replayId)
  }
}
