import type { LeasedDelivery } from '../../../lib/first-attempts.ts'
import { EndpointQueue } from './endpoint-queue.ts'

/** Attempts of a process at the same time. */
const slots = 512

/** Deliveries that a process holds in memory. */
export const queuedMax = 50_000

/** The queues of one workspace. */
class WorkspaceQueues {
  /** Queues with deliveries, in turn. */
  ready: EndpointQueue[] = []
  isScheduled = false
  endpoints = 0
  running = 0
  queued = 0
}

/**
 * The queues of all endpoints. Workspaces take turns, and within a workspace its endpoints, so that a busy one does not delay
 * the others. A workspace gets a slot only while it has fewer attempts in progress than there are free slots: a workspace with
 * slow receivers holds half of the slots at most, two of them a third each, and some are always free for the others. Its share
 * of the deliveries in memory is limited in the same way.
 */
export class EndpointQueues {
  readonly #all = new Map<string, EndpointQueue>()
  readonly #workspaces = new Map<string, WorkspaceQueues>()
  readonly #full = new Set<string>()
  #ready: WorkspaceQueues[] = []
  /** Workspaces that have their share of the slots, until an attempt ends. */
  #waiting: WorkspaceQueues[] = []
  #queued = 0
  #running = 0
  readonly #slots: number

  constructor(slotsMax = slots) {
    this.#slots = slotsMax
  }

  /** Deliveries in all queues. */
  get queued(): number {
    return this.#queued
  }

  /** Endpoints whose queues take no more for now. */
  get full(): Iterable<string> {
    return this.#full
  }

  deleteIdle(): void {
    for (const [id, queue] of this.#all) {
      if (!queue.isIdle) continue
      this.#all.delete(id)
      const workspace = this.#workspaceOf(queue)
      if (--workspace.endpoints === 0) this.#workspaces.delete(queue.workspaceId)
    }
  }

  /** Endpoints to claim nothing for. */
  *withoutCapacity(): Iterable<string> {
    for (const queue of this.#all.values()) if (this.#capacity(queue) === 0) yield queue.id
  }

  /** How many more deliveries to claim for an endpoint. */
  capacityOf(webhookId: string, workspaceId: string): number {
    const queue = this.#all.get(webhookId)
    if (queue) return this.#capacity(queue)
    return this.#hasShare(workspaceId) ? Number.MAX_SAFE_INTEGER : 0
  }

  push(item: LeasedDelivery): void {
    let queue = this.#all.get(item.webhookId)
    if (!queue) {
      queue = new EndpointQueue(item.webhookId, item.workspaceId)
      this.#all.set(item.webhookId, queue)
      this.#workspaceOf(queue).endpoints++
    }
    queue.push(item)
    this.#queued++
    const workspace = this.#workspaceOf(queue)
    workspace.queued++
    this.#schedule(queue, workspace)
    this.#updateFull(queue)
  }

  next(): { queue: EndpointQueue; item: LeasedDelivery } | undefined {
    for (let workspace = this.#ready.shift(); workspace; workspace = this.#ready.shift()) {
      if (workspace.running >= this.#slots - this.#running) {
        this.#waiting.push(workspace)
        continue
      }
      workspace.isScheduled = false
      const next = this.#nextOf(workspace)
      if (next) return next
    }
    return undefined
  }

  done(queue: EndpointQueue, item: LeasedDelivery, success: boolean | null, ms: number): void {
    queue.done(item, success, ms)
    const workspace = this.#workspaceOf(queue)
    workspace.running--
    this.#running--
    this.#schedule(queue, workspace)
    this.#updateFull(queue)
    if (this.#waiting.length > 0) this.#ready.push(...this.#waiting.splice(0))
  }

  /** How many more deliveries of a replay to take. */
  capacityFor(webhookId: string, workspaceId: string, replayId: string, most: number): number {
    if (!this.#hasShare(workspaceId)) return 0
    return this.#all.get(webhookId)?.capacityFor(replayId, most) ?? most
  }

  /** Makes `next` ask the queues with replays again: their pace may let more begin. */
  scheduleReplays(): void {
    for (const queue of this.#all.values()) if (queue.hasReplays) this.#schedule(queue, this.#workspaceOf(queue))
  }

  /** Removes and returns what is queued of a replay. */
  removeReplay(webhookId: string, replayId: string): LeasedDelivery[] {
    const queue = this.#all.get(webhookId)
    const removed = queue?.clearReplay(replayId) ?? []
    this.#queued -= removed.length
    if (queue) this.#workspaceOf(queue).queued -= removed.length
    return removed
  }

  /** Removes and returns the deliveries of a queue that do not have their endpoint's turn. */
  removeWithoutTurn(queue: EndpointQueue): LeasedDelivery[] {
    const items = queue.clear()
    for (const item of items) if (item.hasTurn) queue.push(item)
    const removed = items.filter((item) => !item.hasTurn)
    this.#queued -= removed.length
    this.#workspaceOf(queue).queued -= removed.length
    this.#updateFull(queue)
    return removed
  }

  clear(): LeasedDelivery[] {
    this.#queued = 0
    this.#full.clear()
    for (const workspace of this.#workspaces.values()) workspace.queued = 0
    return [...this.#all.values()].flatMap((queue) => queue.clear())
  }

  #nextOf(workspace: WorkspaceQueues): { queue: EndpointQueue; item: LeasedDelivery } | undefined {
    for (let queue = workspace.ready.shift(); queue; queue = workspace.ready.shift()) {
      queue.isScheduled = false
      const item = queue.next()
      if (!item) continue
      this.#queued--
      workspace.queued--
      this.#running++
      workspace.running++
      this.#schedule(queue, workspace)
      this.#updateFull(queue)
      return { queue, item }
    }
    return undefined
  }

  #workspaceOf({ workspaceId }: EndpointQueue): WorkspaceQueues {
    let workspace = this.#workspaces.get(workspaceId)
    if (!workspace) {
      workspace = new WorkspaceQueues()
      this.#workspaces.set(workspaceId, workspace)
    }
    return workspace
  }

  /** A workspace holds at most as many deliveries as are left for the others. */
  #hasShare(workspaceId: string): boolean {
    return (this.#workspaces.get(workspaceId)?.queued ?? 0) < queuedMax - this.#queued
  }

  #capacity(queue: EndpointQueue): number {
    return this.#hasShare(queue.workspaceId) ? queue.capacity : 0
  }

  #updateFull(queue: EndpointQueue): void {
    if (queue.isFull || (queue.queued > 0 && !this.#hasShare(queue.workspaceId))) this.#full.add(queue.id)
    else if (this.#full.size > 0) this.#full.delete(queue.id)
  }

  #schedule(queue: EndpointQueue, workspace: WorkspaceQueues): void {
    if (!queue.isScheduled) {
      queue.isScheduled = true
      workspace.ready.push(queue)
    }
    if (workspace.isScheduled) return
    workspace.isScheduled = true
    this.#ready.push(workspace)
  }
}
