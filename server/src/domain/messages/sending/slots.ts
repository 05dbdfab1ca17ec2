import { FairShares } from '../../../lib/fair-shares.ts'
import type { DueNumber } from '../../../lib/process.ts'
import type { SenderQuota } from './outbox.sql.ts'
import { paceOf } from './pace.ts'

type Sender = Pick<DueNumber, 'id' | 'workspaceId'>

/**
 * Slots for concurrent calls. Workspaces share them fairly, and the numbers of a workspace share its part in the same way,
 * so that slow numbers always leave slots for the others.
 */
export class SendingSlots {
  readonly #workspaces: FairShares
  readonly #calls = new Map<string, number>()

  constructor(total: number) {
    this.#workspaces = new FairShares(total)
  }

  /** Takes a slot. False if the number or its workspace has its share, or if the number has `maxCalls`. */
  take({ id, workspaceId }: Sender, maxCalls: number): boolean {
    const calls = this.#calls.get(id) ?? 0
    if (calls >= maxCalls || calls >= this.#workspaces.left(workspaceId)) return false
    this.#calls.set(id, calls + 1)
    return this.#workspaces.take(workspaceId)
  }

  release({ id, workspaceId }: Sender, count = 1): void {
    const left = (this.#calls.get(id) ?? 0) - count
    if (left > 0) this.#calls.set(id, left)
    else this.#calls.delete(id)
    this.#workspaces.release(workspaceId, count)
  }
}

type Due = Sender & Pick<DueNumber, 'throughput'>

/**
 * Takes slots for senders with due messages: one for each workspace in turn, and within a workspace for each number in
 * turn, until each has its share or the burst that its pace allows.
 */
export function takeInTurn(slots: SendingSlots, due: readonly Due[]): (SenderQuota & Sender)[] {
  const quotas = due.map((sender) => ({ ...sender, ...paceOf(sender.throughput), senderId: sender.id, maxCount: 0 }))
  const queues = [...Map.groupBy(quotas, ({ workspaceId }) => workspaceId).values()]
  for (let queue = queues.shift(); queue; queue = queues.shift()) {
    const quota = queue.shift()
    if (quota && quota.maxCount < quota.burst && slots.take(quota, quota.maxCalls)) {
      quota.maxCount++
      queue.push(quota)
    }
    if (queue.length > 0) queues.push(queue)
  }
  return quotas.filter(({ maxCount }) => maxCount > 0)
}
