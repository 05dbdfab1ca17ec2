import { FairShares } from '../../../../sharing/fair-shares.ts'
import { Turns } from '../../../../sharing/turns.ts'
import type { LeasedDelivery } from '../first-attempts.ts'
import { EndpointQueue } from './endpoint-queue.ts'

/** Attempts of a process at the same time. */
const slots = 512

/** Deliveries that a process holds in memory. */
export const queuedMax = 50_000

/**
 * The queues of all endpoints. Workspaces take turns, and within a workspace its endpoints, so that a busy one does not delay
 * the others. Workspaces share the slots: one with slow receivers holds half of them at most, two of them a third each, and
 * some are always free for the others. They share the deliveries in memory in the same way.
 */
export class EndpointQueues {
  readonly #all = new Map<string, EndpointQueue>()
  readonly #full = new Set<string>()
  readonly #turns = new Turns<EndpointQueue>()
  readonly #slots: FairShares
  readonly #memory = new FairShares(queuedMax)

  constructor(slotsMax = slots) {
    this.#slots = new FairShares(slotsMax)
  }

  /** Deliveries in all queues. */
  get queued(): number {
    return this.#memory.taken
  }

  /** Endpoints whose queues take no more for now. */
  get full(): Iterable<string> {
    return this.#full
  }

  deleteIdle(): void {
    for (const [id, queue] of this.#all) if (queue.isIdle) this.#all.delete(id)
  }

  /** Endpoints to claim nothing for. */
  *withoutCapacity(): Iterable<string> {
    for (const queue of this.#all.values()) if (this.#capacity(queue) === 0) yield queue.id
  }

  /** How many more deliveries to claim for an endpoint. */
  capacityOf(webhookId: string, workspaceId: string): number {
    const queue = this.#all.get(webhookId)
    if (queue) return this.#capacity(queue)
    return this.#memory.hasLeft(workspaceId) ? Number.MAX_SAFE_INTEGER : 0
  }

  push(item: LeasedDelivery): void {
    let queue = this.#all.get(item.webhookId)
    if (!queue) {
      queue = new EndpointQueue(item.webhookId, item.workspaceId)
      this.#all.set(item.webhookId, queue)
    }
    queue.push(item)
    this.#memory.add(item.workspaceId)
    this.#turns.add(queue.workspaceId, queue)
    this.#updateFull(queue)
  }

  next(): { queue: EndpointQueue; item: LeasedDelivery } | undefined {
    const next = this.#turns.next(startNext, this.#hasSlot)
    if (!next) return undefined
    const { queue } = next
    this.#memory.release(queue.workspaceId)
    this.#slots.add(queue.workspaceId)
    this.#turns.add(queue.workspaceId, queue)
    this.#updateFull(queue)
    return next
  }

  done(queue: EndpointQueue, item: LeasedDelivery, success: boolean | null, ms: number): void {
    queue.done(item, success, ms)
    this.#slots.release(queue.workspaceId)
    this.#turns.add(queue.workspaceId, queue)
    this.#updateFull(queue)
  }

  /** How many more deliveries of a replay to take. */
  capacityFor(webhookId: string, workspaceId: string, replayId: string, most: number): number {
    if (!this.#memory.hasLeft(workspaceId)) return 0
    return this.#all.get(webhookId)?.capacityFor(replayId, most) ?? most
  }

  /** Makes `next` ask the queues with replays again: their pace may let more begin. */
  scheduleReplays(): void {
    for (const queue of this.#all.values()) if (queue.hasReplays) this.#turns.add(queue.workspaceId, queue)
  }

  /** Removes and returns what is queued of a replay. */
  removeReplay(webhookId: string, replayId: string): LeasedDelivery[] {
    const queue = this.#all.get(webhookId)
    const removed = queue?.clearReplay(replayId) ?? []
    if (queue) this.#memory.release(queue.workspaceId, removed.length)
    return removed
  }

  /** Removes and returns the deliveries of a queue that do not have their endpoint's turn. */
  removeWithoutTurn(queue: EndpointQueue): LeasedDelivery[] {
    const items = queue.clear()
    for (const item of items) if (item.hasTurn) queue.push(item)
    const removed = items.filter((item) => !item.hasTurn)
    this.#memory.release(queue.workspaceId, removed.length)
    this.#updateFull(queue)
    return removed
  }

  clear(): LeasedDelivery[] {
    this.#full.clear()
    const items = [...this.#all.values()].flatMap((queue) => queue.clear())
    for (const { workspaceId } of items) this.#memory.release(workspaceId)
    return items
  }

  readonly #hasSlot = (workspaceId: string): boolean => this.#slots.hasLeft(workspaceId)

  #capacity(queue: EndpointQueue): number {
    return this.#memory.hasLeft(queue.workspaceId) ? queue.capacity : 0
  }

  #updateFull(queue: EndpointQueue): void {
    if (queue.isFull || (queue.queued > 0 && !this.#memory.hasLeft(queue.workspaceId))) this.#full.add(queue.id)
    else if (this.#full.size > 0) this.#full.delete(queue.id)
  }
}

function startNext(queue: EndpointQueue): { queue: EndpointQueue; item: LeasedDelivery } | undefined {
  const item = queue.next()
  return item && { queue, item }
}
