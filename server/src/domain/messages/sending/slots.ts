import type { FairShares } from '../../../sharing/fair-shares.ts'
import { takeInTurn } from '../../../sharing/turns.ts'
import type { DueNumber } from './due-numbers.ts'
import type { SenderQuota } from './outbox.sql.ts'
import { paceOf } from './pace.ts'

type Due = Pick<DueNumber, 'id' | 'workspaceId' | 'throughput'>

/**
 * Takes slots for senders with due messages: one for each workspace in turn, and within a workspace for each number in
 * turn, until each has its share or the burst that its pace allows.
 */
export function takeSlots(slots: FairShares, due: readonly Due[]): (SenderQuota & Due)[] {
  const quotas = due.map((sender) => ({ ...sender, ...paceOf(sender.throughput), senderId: sender.id, maxCount: 0 }))
  takeInTurn(
    quotas,
    ({ workspaceId }) => workspaceId,
    (quota) => {
      const { id, workspaceId, maxCalls, burst } = quota
      if (quota.maxCount === burst || !slots.takeFor(id, workspaceId, maxCalls)) return false
      quota.maxCount++
      return true
    },
  )
  return quotas.filter(({ maxCount }) => maxCount > 0)
}
