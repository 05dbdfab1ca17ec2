import type { LeasedDelivery } from '../../../lib/first-attempts.ts'
import { Queue } from '../../../lib/queue.ts'
import { failuresBeforePacing, parallelAttemptsMax } from './retry-policy.ts'

const initialConcurrency = 8
const queuedMax = 20_000
const queuedMin = 64
const queuedMaxFailing = 100
/** A queue holds no more than it can attempt in this time. Leases last several times as long. */
const maxQueueMs = 5_000

/**
 * The queue of one endpoint, with a limit on concurrent attempts. The limit grows while attempts succeed and more are
 * queued, halves with each failure, and is 1 from the fifth failure in a row. From then on the database paces the attempts
 * of all processes (`claim.sql.ts`). Retries use at most a quarter of
 * it, so they do not displace first attempts. Queued deliveries are leased, so the queue takes no more than it can attempt
 * soon; the rest stays in the database.
 */
export class EndpointQueue {
  readonly id: string
  /** Whether it is in the list of queues that are asked for their next delivery. */
  isScheduled = false
  #concurrency = initialConcurrency
  #failures = 0
  #running = 0
  #runningRetries = 0
  /** Moving average of the duration of an attempt; 0 before the first one has ended. */
  #attemptMs = 0
  readonly #first = new Queue<LeasedDelivery>()
  readonly #retries = new Queue<LeasedDelivery>()

  constructor(id: string) {
    this.id = id
  }

  get queued(): number {
    return this.#first.size + this.#retries.size
  }

  /** It has no state worth keeping and can be deleted. */
  get isIdle(): boolean {
    return this.#running === 0 && this.queued === 0 && this.#failures === 0
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
    if (this.#attemptMs === 0) return queuedMax
    return Math.max(queuedMin, Math.min(queuedMax, Math.floor((this.#concurrency * maxQueueMs) / this.#attemptMs)))
  }

  push(item: LeasedDelivery): void {
    if (item.trigger === 'retry') this.#retries.push(item)
    else this.#first.push(item)
  }

  /** The next delivery that may start now. */
  next(): LeasedDelivery | undefined {
    if (this.#running >= this.#concurrency) return undefined
    const maxRetries = Math.max(1, this.#concurrency >> 2)
    const retry = this.#runningRetries < maxRetries ? this.#retries.shift() : undefined
    const item = retry ?? this.#first.shift()
    if (!item) return undefined
    this.#running++
    if (retry) this.#runningRetries++
    return item
  }

  /** Call for every item that `next` returned. `success` is null if no attempt was made; `ms` is its duration. */
  done(item: LeasedDelivery, success: boolean | null, ms: number): void {
    this.#running--
    if (item.trigger === 'retry') this.#runningRetries--
    if (success === null) return
    this.#attemptMs = this.#attemptMs === 0 ? ms : this.#attemptMs * 0.9 + ms * 0.1
    if (success) {
      this.#failures = 0
      if (this.#concurrency < initialConcurrency) this.#concurrency = initialConcurrency
      else if (this.queued > 0) this.#concurrency = Math.min(parallelAttemptsMax, this.#concurrency + 1)
    } else {
      this.#failures++
      this.#concurrency = this.#failures >= failuresBeforePacing ? 1 : Math.max(1, this.#concurrency >> 1)
    }
  }

  /** Removes and returns all queued deliveries. */
  clear(): LeasedDelivery[] {
    return [...this.#first.clear(), ...this.#retries.clear()]
  }
}

/** The queues of all endpoints. Queues with deliveries take turns, so one busy endpoint does not delay the others. */
export class EndpointQueues {
  readonly #all = new Map<string, EndpointQueue>()
  readonly #full = new Set<string>()
  #ready: EndpointQueue[] = []
  #queued = 0

  /** Deliveries in all queues. */
  get queued(): number {
    return this.#queued
  }

  /** The capacity of each queue, after deleting the idle ones. */
  capacities(): { webhookId: string; capacity: number }[] {
    for (const [id, queue] of this.#all) if (queue.isIdle) this.#all.delete(id)
    return [...this.#all.values()].map((queue) => ({ webhookId: queue.id, capacity: queue.capacity }))
  }

  /** Endpoints whose queues take no more for now. */
  get full(): Iterable<string> {
    return this.#full
  }

  push(item: LeasedDelivery): void {
    let queue = this.#all.get(item.webhookId)
    if (!queue) {
      queue = new EndpointQueue(item.webhookId)
      this.#all.set(item.webhookId, queue)
    }
    queue.push(item)
    this.#queued++
    this.#schedule(queue)
    this.#updateFull(queue)
  }

  next(): { queue: EndpointQueue; item: LeasedDelivery } | undefined {
    for (let queue = this.#ready.shift(); queue; queue = this.#ready.shift()) {
      queue.isScheduled = false
      const item = queue.next()
      if (!item) continue
      this.#schedule(queue)
      this.#queued--
      this.#updateFull(queue)
      return { queue, item }
    }
    return undefined
  }

  done(queue: EndpointQueue, item: LeasedDelivery, success: boolean | null, ms: number): void {
    queue.done(item, success, ms)
    this.#schedule(queue)
    this.#updateFull(queue)
  }

  /** Removes and returns the deliveries of a queue that do not have their endpoint's turn. */
  removeWithoutTurn(queue: EndpointQueue): LeasedDelivery[] {
    const items = queue.clear()
    for (const item of items) if (item.hasTurn) queue.push(item)
    const removed = items.filter((item) => !item.hasTurn)
    this.#queued -= removed.length
    this.#updateFull(queue)
    return removed
  }

  clear(): LeasedDelivery[] {
    this.#queued = 0
    this.#full.clear()
    return [...this.#all.values()].flatMap((queue) => queue.clear())
  }

  #updateFull(queue: EndpointQueue): void {
    if (queue.isFull) this.#full.add(queue.id)
    else if (this.#full.size > 0) this.#full.delete(queue.id)
  }

  #schedule(queue: EndpointQueue): void {
    if (queue.isScheduled) return
    queue.isScheduled = true
    this.#ready.push(queue)
  }
}
