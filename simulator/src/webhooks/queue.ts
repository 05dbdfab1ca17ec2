import type { Cancel, Timers } from '../clock.ts'
import type { NetworkLog } from '../network-log.ts'
import { type Batch, type Destination, postBatch } from './batch.ts'
import type { Update } from './envelope.ts'
import type { Outlet } from './post.ts'
import { defaultQueueSettings, type QueueSettings } from './queue-settings.ts'
import { newSendQueue, type SendQueue } from './send-queue.ts'

const gatherWhileFailingMs = 1_000
const gatherToReorderMs = 200

interface QueueParts {
  timers: Timers
  outlet: Outlet
  log: NetworkLog
  destinationOf: (update: Update) => Destination | undefined
  changed: () => void
  /** Told of each update whose POST was answered with 200. */
  taken: (update: Update) => void
}

/**
 * Updates on their way to the apps' callbacks. Each app has a lane of its own, so a dead callback holds up nobody else.
 * In a lane an update is *waiting* (to be gathered with others), then part of a *batch*. A batch is posted until it is
 * answered 200: at once, once more at once, then ever less often for seven days. Its bytes never change.
 * While a callback fails, new updates are gathered for a second before they are tried, so that batches stay few.
 */
export class WebhookQueue {
  settings: QueueSettings = { ...defaultQueueSettings }
  #parts: QueueParts
  #lanes = new Map<string, SendQueue>()
  #waits = new Map<Batch, Cancel>()
  #generation = 0

  constructor(parts: QueueParts) {
    this.#parts = parts
  }

  /** Updates not yet taken by their callback. */
  get size(): number {
    let size = 0
    for (const lane of this.#lanes.values()) size += lane.size
    return size
  }

  /** True while this app has as many updates waiting as it may have. */
  isFull(appId: string): boolean {
    return (this.#lanes.get(appId)?.size ?? 0) >= this.settings.maxQueued
  }

  /** True while something is being posted or is about to be. */
  get busy(): boolean {
    for (const lane of this.#lanes.values()) if (lane.inFlight > 0) return true
    return false
  }

  push(update: Update, options: { reorder?: boolean; delayMs?: number } = {}): void {
    const lane = this.#lane(update.appId)
    const join = () => {
      lane.delayed.delete(update)
      lane.waiting.push(update)
      lane.reverse ||= options.reorder ?? false
      this.#gather(update.appId, lane)
    }
    lane.size++
    this.#parts.changed()
    if (options.delayMs) {
      lane.delayed.add(update)
      this.#parts.timers.after(options.delayMs, join)
    } else join()
  }

  /** Takes back what `snapshot` gave before a restart; what was never tried is gathered anew. */
  restore(batches: Batch[]): void {
    for (const batch of batches) {
      if (batch.attempts === 0) {
        for (const update of batch.updates) this.push(update)
        continue
      }
      const lane = this.#lane(batch.appId)
      lane.size += batch.updates.length
      lane.batches.add(batch)
      this.#attemptAfter(batch, 0)
    }
  }

  /** Tries at once what this app has waiting for its next attempt: it has just proved that it is there. */
  retryNow(appId: string): void {
    const lane = this.#lane(appId)
    lane.failing = false
    for (const batch of lane.batches) if (this.#waits.has(batch)) this.#attemptAfter(batch, 0)
  }

  snapshot(): Batch[] {
    const batches: Batch[] = []
    for (const [appId, lane] of this.#lanes) {
      batches.push(...lane.batches)
      const updates = [...lane.waiting, ...lane.delayed]
      if (updates.length > 0)
        batches.push({ appId, updates, attempts: 0, createdAtMs: this.#parts.timers.now().getTime() })
    }
    return batches
  }

  /** Lets go of what is being posted; `snapshot` still holds it. */
  stop(): void {
    this.#generation++
  }

  clear(): void {
    this.#generation++
    this.#lanes.clear()
    this.#waits.clear()
  }

  #lane(appId: string): SendQueue {
    let lane = this.#lanes.get(appId)
    if (!lane) {
      lane = newSendQueue()
      this.#lanes.set(appId, lane)
    }
    return lane
  }

  #gather(appId: string, lane: SendQueue): void {
    if (lane.gathering) return
    lane.gathering = true
    const waitMs = Math.max(
      this.settings.batchWindowMs,
      lane.failing ? gatherWhileFailingMs : 0,
      lane.reverse ? gatherToReorderMs : 0,
    )
    this.#parts.timers.after(waitMs, () => {
      lane.gathering = false
      this.#dispatch(appId, lane)
    })
  }

  /** Forms batches while there is room for another POST; the rest goes on gathering. */
  #dispatch(appId: string, lane: SendQueue): void {
    if (lane.reverse) lane.waiting.reverse()
    lane.reverse = false
    while (lane.waiting.length > 0 && lane.inFlight < this.settings.concurrency) {
      const [first] = lane.waiting
      const destination = first && this.#parts.destinationOf(first)
      if (!destination) {
        lane.waiting.shift()
        lane.size--
        this.#parts.log.note(`An update for app ${appId} was dropped: the app has no callback.`)
        continue
      }
      const updates = this.#takeSame(lane, destination.url)
      const batch = { appId, updates, attempts: 0, createdAtMs: this.#parts.timers.now().getTime() }
      lane.batches.add(batch)
      void this.#attempt(batch)
    }
  }

  #takeSame(lane: SendQueue, url: string): Update[] {
    let count = 0
    while (count < lane.waiting.length && count < Math.min(this.settings.batchSize, 1000)) {
      const update = lane.waiting[count]
      if (!update || this.#parts.destinationOf(update)?.url !== url) break
      count++
    }
    return lane.waiting.splice(0, Math.max(1, count))
  }

  async #attempt(batch: Batch): Promise<void> {
    const lane = this.#lane(batch.appId)
    const [first] = batch.updates
    // The callback of the moment: a retry follows the app to its new address.
    const destination = first && this.#parts.destinationOf(first)
    if (!destination) return this.#settle(lane, batch, 'the app has no callback any more')
    const generation = this.#generation
    lane.inFlight++
    batch.attempts++
    const taken = await postBatch(this.#parts, batch, destination, this.settings.timeoutMs)
    if (generation !== this.#generation) return
    lane.inFlight--
    lane.failing = !taken
    if (taken) batch.updates.forEach(this.#parts.taken)
    if (!taken) this.#retryLater(lane, batch)
    else if (batch.updates.some((update) => update.twice)) {
      batch.updates = batch.updates.map((update) => ({ ...update, twice: false }))
      void this.#attempt(batch)
    } else this.#settle(lane, batch)
    if (lane.waiting.length > 0) this.#gather(batch.appId, lane)
  }

  #retryLater(lane: SendQueue, batch: Batch): void {
    const { retryMs, giveUpAfterMs } = this.settings
    const isTooOld = this.#parts.timers.now().getTime() - batch.createdAtMs >= giveUpAfterMs
    if (isTooOld) this.#settle(lane, batch, 'not taken within seven days')
    else {
      const waitMs = retryMs[Math.min(batch.attempts - 1, retryMs.length - 1)] ?? 0
      this.#attemptAfter(batch, waitMs)
      this.#parts.changed()
    }
  }

  #attemptAfter(batch: Batch, waitMs: number): void {
    this.#waits.get(batch)?.()
    const cancel = this.#parts.timers.after(waitMs, () => {
      this.#waits.delete(batch)
      void this.#attempt(batch)
    })
    this.#waits.set(batch, cancel)
  }

  #settle(lane: SendQueue, batch: Batch, lost?: string): void {
    lane.batches.delete(batch)
    lane.size -= batch.updates.length
    if (lost) this.#parts.log.note(`${batch.updates.length} update(s) for app ${batch.appId} were dropped: ${lost}.`)
    this.#parts.changed()
  }
}
