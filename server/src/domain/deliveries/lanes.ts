import { Queue } from '../../lib/queue.ts'
import type { Item } from './item.ts'

const usualWidth = 8
const widthMax = 64
const patience = 5
const queuedMax = 20_000
const queuedMaxFailing = 100

/**
 * One endpoint's way out: how many of its attempts may be under way at a time, and what waits. It widens while attempts
 * succeed and there is more to do, halves with each failure, and from the fifth in a row lets a single probe through.
 * Retries have a quarter of it at most: they never take the place of first attempts.
 */
export class Lane {
  readonly id: string
  /** Whether it stands in line. */
  listed = false
  #width = usualWidth
  #failures = 0
  #running = 0
  #runningRetries = 0
  readonly #first = new Queue<Item>()
  readonly #retries = new Queue<Item>()

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
    return this.#failures >= patience - 1
  }

  /** How many more may wait here. */
  get room(): number {
    return Math.max(0, (this.#failures >= patience ? queuedMaxFailing : queuedMax) - this.queued)
  }

  push(item: Item): void {
    if (item.trigger === 'retry') this.#retries.push(item)
    else this.#first.push(item)
  }

  /** The next that may start now. */
  next(): Item | undefined {
    if (this.#running >= this.#width) return undefined
    const retryPlaces = Math.max(1, this.#width >> 2)
    const retry = this.#runningRetries < retryPlaces ? this.#retries.shift() : undefined
    const item = retry ?? this.#first.shift()
    if (!item) return undefined
    this.#running++
    if (retry) this.#runningRetries++
    return item
  }

  /** An item that was let through is done, or was not attempted after all (null). */
  done(item: Item, success: boolean | null): void {
    this.#running--
    if (item.trigger === 'retry') this.#runningRetries--
    if (success === null) return
    if (success) {
      this.#failures = 0
      if (this.#width < usualWidth) this.#width = usualWidth
      else if (this.queued > 0) this.#width = Math.min(widthMax, this.#width + 1)
    } else {
      this.#failures++
      this.#width = this.#failures >= patience ? 1 : Math.max(1, this.#width >> 1)
    }
  }

  /** Takes out all that waits. */
  clear(): Item[] {
    return [...this.#first.clear(), ...this.#retries.clear()]
  }
}

/** The lanes of all endpoints; those with something to start stand in line, and each lets one through in turn. */
export class Lanes {
  readonly #all = new Map<string, Lane>()
  #line: Lane[] = []
  #queued = 0

  /** How much waits, over all. */
  get queued(): number {
    return this.#queued
  }

  /** How much more each takes that there is something to remember of. */
  rooms(): { webhookId: string; room: number }[] {
    for (const [id, lane] of this.#all) if (lane.isFresh) this.#all.delete(id)
    return [...this.#all.values()].map((lane) => ({ webhookId: lane.id, room: lane.room }))
  }

  /** False if there is no room. */
  push(item: Item): boolean {
    let lane = this.#all.get(item.webhookId)
    if (!lane) {
      lane = new Lane(item.webhookId)
      this.#all.set(item.webhookId, lane)
    }
    if (lane.room === 0) return false
    lane.push(item)
    this.#queued++
    this.#list(lane)
    return true
  }

  next(): { lane: Lane; item: Item } | undefined {
    for (let lane = this.#line.shift(); lane; lane = this.#line.shift()) {
      lane.listed = false
      const item = lane.next()
      if (!item) continue
      this.#list(lane)
      this.#queued--
      return { lane, item }
    }
    return undefined
  }

  done(lane: Lane, item: Item, success: boolean | null): void {
    lane.done(item, success)
    this.#list(lane)
  }

  clear(): Item[] {
    this.#queued = 0
    return [...this.#all.values()].flatMap((lane) => lane.clear())
  }

  #list(lane: Lane): void {
    if (lane.listed) return
    lane.listed = true
    this.#line.push(lane)
  }
}
