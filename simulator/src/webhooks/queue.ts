import type { Cancel, Timers } from '../clock.ts'
import type { NetworkLog } from '../network-log.ts'
import { type AppQueue, newAppQueue } from './app-queue.ts'
import { type Batch, type Destination, postBatch } from './batch.ts'
import type { Update } from './envelope.ts'
import type { HttpClient } from './http-client.ts'
import { defaultQueueSettings, type QueueSettings } from './queue-settings.ts'

const batchWhileFailingMs = 1_000
const batchToReorderMs = 200

interface QueueDependencies {
  timers: Timers
  http: HttpClient
  log: NetworkLog
  destinationOf: (update: Update) => Destination | undefined
  changed: () => void
  /** Called for each update whose POST got a 200 response. */
  onAccepted: (update: Update) => void
}

/**
 * Delivers updates to the callbacks of the apps. Each app has its own queue, so a failing callback does not delay the
 * other apps. An update is first *waiting*, then part of a *batch*. A batch is posted until the response is 200: two
 * attempts immediately, then at growing intervals for seven days, always with the same bytes. While a callback fails,
 * new updates are collected for a second before they are posted, so that there are few batches.
 */
export class WebhookQueue {
  settings: QueueSettings = { ...defaultQueueSettings }
  #dependencies: QueueDependencies
  #queues = new Map<string, AppQueue>()
  #retryTimers = new Map<Batch, Cancel>()
  #generation = 0

  constructor(dependencies: QueueDependencies) {
    this.#dependencies = dependencies
  }

  /** The number of updates not accepted yet. */
  get size(): number {
    let size = 0
    for (const queue of this.#queues.values()) size += queue.size
    return size
  }

  /** True while this app has reached the maximum number of queued updates. */
  isFull(appId: string): boolean {
    return (this.#queues.get(appId)?.size ?? 0) >= this.settings.maxQueued
  }

  /** True while a POST is in flight. */
  get busy(): boolean {
    for (const queue of this.#queues.values()) if (queue.inFlight > 0) return true
    return false
  }

  push(update: Update, options: { reorder?: boolean; delayMs?: number } = {}): void {
    const queue = this.#queueOf(update.appId)
    const enqueue = () => {
      queue.delayed.delete(update)
      queue.waiting.push(update)
      queue.reverse ||= options.reorder ?? false
      this.#scheduleDispatch(update.appId, queue)
    }
    queue.size++
    this.#dependencies.changed()
    if (options.delayMs) {
      queue.delayed.add(update)
      this.#dependencies.timers.after(options.delayMs, enqueue)
    } else enqueue()
  }

  /** Restores a snapshot after a restart. Updates that were never posted are batched again. */
  restore(batches: Batch[]): void {
    for (const batch of batches) {
      if (batch.attempts === 0) {
        for (const update of batch.updates) this.push(update)
        continue
      }
      const queue = this.#queueOf(batch.appId)
      queue.size += batch.updates.length
      queue.batches.add(batch)
      this.#attemptAfter(batch, 0)
    }
  }

  /** Retries the failed batches of this app immediately, because its callback has just been verified. */
  retryNow(appId: string): void {
    const queue = this.#queueOf(appId)
    queue.failing = false
    for (const batch of queue.batches) if (this.#retryTimers.has(batch)) this.#attemptAfter(batch, 0)
  }

  snapshot(): Batch[] {
    const batches: Batch[] = []
    for (const [appId, queue] of this.#queues) {
      batches.push(...queue.batches)
      const updates = [...queue.waiting, ...queue.delayed]
      if (updates.length > 0)
        batches.push({ appId, updates, attempts: 0, createdAtMs: this.#dependencies.timers.now().getTime() })
    }
    return batches
  }

  /** Ignores the results of requests in flight; `snapshot` still contains their batches. */
  stop(): void {
    this.#generation++
  }

  clear(): void {
    this.#generation++
    this.#queues.clear()
    this.#retryTimers.clear()
  }

  #queueOf(appId: string): AppQueue {
    let queue = this.#queues.get(appId)
    if (!queue) {
      queue = newAppQueue()
      this.#queues.set(appId, queue)
    }
    return queue
  }

  #scheduleDispatch(appId: string, queue: AppQueue): void {
    if (queue.dispatchScheduled) return
    queue.dispatchScheduled = true
    const delayMs = Math.max(
      this.settings.batchWindowMs,
      queue.failing ? batchWhileFailingMs : 0,
      queue.reverse ? batchToReorderMs : 0,
    )
    this.#dependencies.timers.after(delayMs, () => {
      queue.dispatchScheduled = false
      this.#dispatch(appId, queue)
    })
  }

  /** Creates batches up to the concurrency limit. The remaining updates keep waiting. */
  #dispatch(appId: string, queue: AppQueue): void {
    if (queue.reverse) queue.waiting.reverse()
    queue.reverse = false
    while (queue.waiting.length > 0 && queue.inFlight < this.settings.concurrency) {
      const [first] = queue.waiting
      const destination = first && this.#dependencies.destinationOf(first)
      if (!destination) {
        queue.waiting.shift()
        queue.size--
        this.#dependencies.log.note(`An update for app ${appId} was dropped: the app has no callback.`)
        continue
      }
      const updates = this.#takeForUrl(queue, destination.url)
      const batch = { appId, updates, attempts: 0, createdAtMs: this.#dependencies.timers.now().getTime() }
      queue.batches.add(batch)
      void this.#attempt(batch)
    }
  }

  #takeForUrl(queue: AppQueue, url: string): Update[] {
    let count = 0
    while (count < queue.waiting.length && count < Math.min(this.settings.batchSize, 1000)) {
      const update = queue.waiting[count]
      if (!update || this.#dependencies.destinationOf(update)?.url !== url) break
      count++
    }
    return queue.waiting.splice(0, Math.max(1, count))
  }

  async #attempt(batch: Batch): Promise<void> {
    const queue = this.#queueOf(batch.appId)
    const [first] = batch.updates
    // Looked up for every attempt, so that a retry goes to the app's current callback.
    const destination = first && this.#dependencies.destinationOf(first)
    if (!destination) return this.#finish(queue, batch, 'the app has no callback')
    const generation = this.#generation
    queue.inFlight++
    batch.attempts++
    const isAccepted = await postBatch(this.#dependencies, batch, destination, this.settings.timeoutMs)
    if (generation !== this.#generation) return
    queue.inFlight--
    queue.failing = !isAccepted
    if (isAccepted) batch.updates.forEach(this.#dependencies.onAccepted)
    if (!isAccepted) this.#retryLater(queue, batch)
    else if (batch.updates.some((update) => update.twice)) {
      batch.updates = batch.updates.map((update) => ({ ...update, twice: false }))
      void this.#attempt(batch)
    } else this.#finish(queue, batch)
    if (queue.waiting.length > 0) this.#scheduleDispatch(batch.appId, queue)
  }

  #retryLater(queue: AppQueue, batch: Batch): void {
    const { retryMs, giveUpAfterMs } = this.settings
    const isExpired = this.#dependencies.timers.now().getTime() - batch.createdAtMs >= giveUpAfterMs
    if (isExpired) this.#finish(queue, batch, 'not accepted within seven days')
    else {
      const delayMs = retryMs[Math.min(batch.attempts - 1, retryMs.length - 1)] ?? 0
      this.#attemptAfter(batch, delayMs)
      this.#dependencies.changed()
    }
  }

  #attemptAfter(batch: Batch, delayMs: number): void {
    this.#retryTimers.get(batch)?.()
    const cancel = this.#dependencies.timers.after(delayMs, () => {
      this.#retryTimers.delete(batch)
      void this.#attempt(batch)
    })
    this.#retryTimers.set(batch, cancel)
  }

  #finish(queue: AppQueue, batch: Batch, dropReason?: string): void {
    queue.batches.delete(batch)
    queue.size -= batch.updates.length
    if (dropReason)
      this.#dependencies.log.note(
        `${batch.updates.length} update(s) for app ${batch.appId} were dropped: ${dropReason}.`,
      )
    this.#dependencies.changed()
  }
}
