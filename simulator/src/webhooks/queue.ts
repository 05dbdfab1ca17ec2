import type { Timers } from '../clock.ts'
import type { WireLog } from '../wire-log.ts'
import { envelope, type Update } from './envelope.ts'
import type { Outlet } from './post.ts'
import { escapedJson, signatureHeaders } from './sign.ts'

/**
 * Updates on their way to the apps' callbacks. Each app has a lane of its own, so a dead callback holds up nobody else.
 * In a lane an update is *waiting* (to be gathered with others), then part of a *batch*. A batch is posted until it is
 * answered 200: at once, once more at once, then ever less often for seven days. Its bytes never change.
 * While a callback fails, new updates are gathered for a second before they are tried, so that batches stay few.
 */
export interface QueueSettings {
  /** How long updates are gathered; 0 gathers only what happens in the same instant. */
  batchWindowMs: number
  batchSize: number
  concurrency: number
  timeoutMs: number
  /** Waits before the second, third, … attempt; the last one repeats. */
  retryMs: number[]
  giveUpAfterMs: number
  /** Beyond this many updates the network takes no more messages until callbacks catch up. */
  maxQueued: number
}

export const defaultQueueSettings: QueueSettings = {
  batchWindowMs: 0,
  batchSize: 100,
  concurrency: 8,
  timeoutMs: 10_000,
  retryMs: [0, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000],
  giveUpAfterMs: 7 * 86_400_000,
  maxQueued: 100_000,
}

export interface Destination {
  url: string
  secret: string
}

export interface Batch {
  appId: string
  updates: Update[]
  attempts: number
  createdAtMs: number
}

interface Lane {
  delayed: Set<Update>
  waiting: Update[]
  batches: Set<Batch>
  inFlight: number
  failing: boolean
  reverse: boolean
  gathering: boolean
}

const gatherWhileFailingMs = 1_000
const gatherToReorderMs = 200

interface QueueParts {
  timers: Timers
  outlet: Outlet
  log: WireLog
  destinationOf: (update: Update) => Destination | undefined
  changed: () => void
}

export class WebhookQueue {
  settings: QueueSettings = { ...defaultQueueSettings }
  #parts: QueueParts
  #lanes = new Map<string, Lane>()
  #size = 0
  #generation = 0

  constructor(parts: QueueParts) {
    this.#parts = parts
  }

  /** Updates not yet taken by their callback. */
  get size(): number {
    return this.#size
  }

  get full(): boolean {
    return this.#size >= this.settings.maxQueued
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
    this.#size++
    this.#parts.changed()
    if (options.delayMs) {
      lane.delayed.add(update)
      this.#parts.timers.after(options.delayMs, join)
    } else join()
  }

  /** Takes back what `snapshot` gave before a restart. */
  restore(batches: Batch[]): void {
    for (const batch of batches) {
      this.#size += batch.updates.length
      this.#lane(batch.appId).batches.add(batch)
      this.#parts.timers.after(0, () => this.#attempt(batch))
    }
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
    this.#size = 0
  }

  #lane(appId: string): Lane {
    let lane = this.#lanes.get(appId)
    if (!lane) {
      lane = {
        delayed: new Set(),
        waiting: [],
        batches: new Set(),
        inFlight: 0,
        failing: false,
        reverse: false,
        gathering: false,
      }
      this.#lanes.set(appId, lane)
    }
    return lane
  }

  #gather(appId: string, lane: Lane): void {
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
  #dispatch(appId: string, lane: Lane): void {
    if (lane.reverse) lane.waiting.reverse()
    lane.reverse = false
    while (lane.waiting.length > 0 && lane.inFlight < this.settings.concurrency) {
      const [first] = lane.waiting
      const destination = first && this.#parts.destinationOf(first)
      if (!destination) {
        lane.waiting.shift()
        this.#size--
        this.#parts.log.note(`An update for app ${appId} was dropped: the app has no callback.`)
        continue
      }
      const updates = this.#takeSame(lane, destination.url)
      const batch = { appId, updates, attempts: 0, createdAtMs: this.#parts.timers.now().getTime() }
      lane.batches.add(batch)
      void this.#attempt(batch)
    }
  }

  #takeSame(lane: Lane, url: string): Update[] {
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
    const taken = await this.#post(batch, destination)
    if (generation !== this.#generation) return
    lane.inFlight--
    lane.failing = !taken
    if (!taken) this.#retryLater(lane, batch)
    else if (batch.updates.some((update) => update.twice)) {
      batch.updates = batch.updates.map((update) => ({ ...update, twice: false }))
      void this.#attempt(batch)
    } else this.#settle(lane, batch)
    if (lane.waiting.length > 0) this.#gather(batch.appId, lane)
  }

  async #post(batch: Batch, destination: Destination): Promise<boolean> {
    const body = escapedJson(envelope(batch.updates))
    const signatures = signatureHeaders(destination.secret, body)
    const startedAt = performance.now()
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'facebookexternalua',
      accept: '*/*',
      ...signatures,
    }
    const answer = await this.#parts.outlet.post(destination.url, headers, body, this.settings.timeoutMs)
    this.#parts.log.add({
      kind: 'webhook',
      appId: batch.appId,
      url: destination.url,
      attempt: batch.attempts,
      updates: batch.updates.length,
      signature: signatures['x-hub-signature-256'] ?? '',
      request: body.toString('ascii'),
      status: answer.kind === 'answered' ? answer.status : null,
      response: answer.kind === 'answered' ? answer.body : '',
      error: answer.kind === 'unreachable' ? answer.why : null,
      durationMs: Math.round(performance.now() - startedAt),
    })
    return answer.kind === 'answered' && answer.status === 200
  }

  #retryLater(lane: Lane, batch: Batch): void {
    const { retryMs, giveUpAfterMs } = this.settings
    const isTooOld = this.#parts.timers.now().getTime() - batch.createdAtMs >= giveUpAfterMs
    if (isTooOld) this.#settle(lane, batch, 'not taken within seven days')
    else {
      const waitMs = retryMs[Math.min(batch.attempts - 1, retryMs.length - 1)] ?? 0
      this.#parts.timers.after(waitMs, () => void this.#attempt(batch))
      this.#parts.changed()
    }
  }

  #settle(lane: Lane, batch: Batch, lost?: string): void {
    lane.batches.delete(batch)
    this.#size -= batch.updates.length
    if (lost) this.#parts.log.note(`${batch.updates.length} update(s) for app ${batch.appId} were dropped: ${lost}.`)
    this.#parts.changed()
  }
}
