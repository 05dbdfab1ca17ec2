import type { FairShares } from '../../../sharing/fair-shares.ts'
import { takeInTurn } from '../../../sharing/turns.ts'
import type { DueNumber } from './due-numbers.ts'
import type { SenderQuota } from './outbox.sql.ts'
import { paceOf } from './pace.ts'

/** Takes slots, claims messages within them, and returns the slots that got no message. */
export async function claimWithSlots<Claimed extends { senderId: string }>(
  slots: FairShares,
  due: readonly Due[],
  claim: (quotas: readonly SenderQuota[]) => Promise<Claimed[]>,
): Promise<Claimed[]> {
  const quotas = takeSlots(slots, due)
  let claimed: Claimed[] = []
  try {
    if (quotas.length > 0) claimed = await claim(quotas)
    return claimed
  } finally {
    const counts = Map.groupBy(claimed, ({ senderId }) => senderId)
    for (const { id, workspaceId, maxCount } of quotas) {
      slots.releaseFor(id, workspaceId, maxCount - (counts.get(id)?.length ?? 0))
    }
  }
}

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
