import type { LeasedDelivery } from '../../../lib/first-attempts.ts'
import { Queue } from '../../../lib/queue.ts'

const usualWidth = 8
const widthMax = 64
const timeouts = 5
const queuedMax = 20_000
const queuedMin = 64
const queuedMaxFailing = 100
/** No more waits in a queue than it can do in this time; leases last several times as long. */
const aheadMs = 5_000

/**
 * One endpoint's way out: how many of its attempts may be under way at a time, and what waits. It widens while attempts
 * succeed and there is more to do, halves with each failure, and from the fifth in a row lets a single probe through.
 * Retries have a quarter of it at most: they never take the place of first attempts. What waits here is leased, so no more
 * is taken than can be done soon; the rest waits in the database.
 */
export class EndpointQueue {
  readonly id: string
  /** Whether it stands in line. */
  listed = false
  #width = usualWidth
  #failures = 0
  #running = 0
  #runningRetries = 0
  /** How long an attempt takes, as of late; 0 before the first has ended. */
  #attemptMs = 0
  readonly #first = new Queue<LeasedDelivery>()
  readonly #retries = new Queue<LeasedDelivery>()

  constructor(id: string) {
    this.id = id
  }

  get queued(): number {
    return this.#first.size + this.#retries.size
  }

  /** Nothing is going on, and nothing has to be remembered. */
  get isFresh(): boolean {
    return this.#running === 0 && this.queued === 0 && this.#failures === 0
  }

  /** It has failed often enough to be let through one at a time. */
  get isProbing(): boolean {
    return this.#failures >= timeouts - 1
  }

  /** How many more are to be claimed for it: none until half of what was is done, so that each claim is worth its while. */
  get room(): number {
    const most = this.#most
    return this.queued * 2 > most ? 0 : most - this.queued
  }

  get isFull(): boolean {
    return this.queued >= this.#most
  }

  get #most(): number {
    if (this.#failures >= timeouts) return queuedMaxFailing
    if (this.#attemptMs === 0) return queuedMax
    return Math.max(queuedMin, Math.min(queuedMax, Math.floor((this.#width * aheadMs) / this.#attemptMs)))
  }

  push(item: LeasedDelivery): void {
    if (item.trigger === 'retry') this.#retries.push(item)
    else this.#first.push(item)
  }

  /** The next that may start now. */
  next(): LeasedDelivery | undefined {
    if (this.#running >= this.#width) return undefined
    const retryPlaces = Math.max(1, this.#width >> 2)
    const retry = this.#runningRetries < retryPlaces ? this.#retries.shift() : undefined
    const item = retry ?? this.#first.shift()
    if (!item) return undefined
    this.#running++
    if (retry) this.#runningRetries++
    return item
  }

  /** An item that was let through is done after so long, or was not attempted after all (null). */
  done(item: LeasedDelivery, success: boolean | null, ms: number): void {
    this.#running--
    if (item.trigger === 'retry') this.#runningRetries--
    if (success === null) return
    this.#attemptMs = this.#attemptMs === 0 ? ms : this.#attemptMs * 0.9 + ms * 0.1
    if (success) {
      this.#failures = 0
      if (this.#width < usualWidth) this.#width = usualWidth
      else if (this.queued > 0) this.#width = Math.min(widthMax, this.#width + 1)
    } else {
      this.#failures++
      this.#width = this.#failures >= timeouts ? 1 : Math.max(1, this.#width >> 1)
    }
  }

  /** Takes out all that waits. */
  clear(): LeasedDelivery[] {
    return [...this.#first.clear(), ...this.#retries.clear()]
  }
}

/** The queues of all endpoints; those with something to start stand in line, and each lets one through in turn. */
export class EndpointQueues {
  readonly #all = new Map<string, EndpointQueue>()
  readonly #full = new Set<string>()
  #line: EndpointQueue[] = []
  #queued = 0

  /** How much waits, over all. */
  get queued(): number {
    return this.#queued
  }

  /** How much more each takes that there is something to remember of. */
  rooms(): { webhookId: string; room: number }[] {
    for (const [id, queue] of this.#all) if (queue.isFresh) this.#all.delete(id)
    return [...this.#all.values()].map((queue) => ({ webhookId: queue.id, room: queue.room }))
  }

  /** Those that should get nothing more for now. */
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
    this.#list(queue)
    this.#weigh(queue)
  }

  next(): { queue: EndpointQueue; item: LeasedDelivery } | undefined {
    for (let queue = this.#line.shift(); queue; queue = this.#line.shift()) {
      queue.listed = false
      const item = queue.next()
      if (!item) continue
      this.#list(queue)
      this.#queued--
      this.#weigh(queue)
      return { queue, item }
    }
    return undefined
  }

  done(queue: EndpointQueue, item: LeasedDelivery, success: boolean | null, ms: number): void {
    queue.done(item, success, ms)
    this.#list(queue)
    this.#weigh(queue)
  }

  clear(): LeasedDelivery[] {
    this.#queued = 0
    this.#full.clear()
    return [...this.#all.values()].flatMap((queue) => queue.clear())
  }

  #weigh(queue: EndpointQueue): void {
    if (queue.isFull) this.#full.add(queue.id)
    else if (this.#full.size > 0) this.#full.delete(queue.id)
  }

  #list(queue: EndpointQueue): void {
    if (queue.listed) return
    queue.listed = true
    this.#line.push(queue)
  }
}
