import type { ControlChangedData } from '@parley/contract/service-events'
import type { Db } from '../../../db/db.ts'
import { withPrefix } from '../../../lib/ids.ts'
import type { HandoverItem } from '../../../whatsapp/incoming/handover.ts'
import { publish } from '../../deliveries/engine/publish/publish.ts'
import type { Destination } from '../../senders/senders.ts'
import { type Handover, insertHandovers } from './handovers.sql.ts'

/** Stores who handles conversations and publishes each change once. Run it within a transaction. */
export async function saveHandovers(
  tx: Db,
  now: Date,
  changes: readonly { item: HandoverItem; destination: Destination }[],
): Promise<void> {
  if (changes.length === 0) return
  const stored = await insertHandovers(tx, {
    handovers: changes.map(({ item, destination: { workspaceId, senderId } }) => ({ ...item, workspaceId, senderId })),
  })
  const ordered = stored.toSorted((one, other) => one.occurredAt.getTime() - other.occurredAt.getTime())
  await publish(
    tx,
    now,
    ordered.map((handover) => ({
      workspaceId: handover.workspaceId,
      type: 'conversation.control_changed' as const,
      data: toData(handover),
    })),
  )
}

const toData = (handover: Handover): ControlChangedData => ({
  // Without a number, the user ID names the person.
  from: handover.person === handover.userId ? null : handover.person,
  from_user_id: handover.userId,
  sender_id: withPrefix('snd', handover.senderId),
  change: handover.change,
  previous_owner: handover.previousOwner,
  new_owner: handover.newOwner,
  occurred_at: handover.occurredAt.toISOString(),
})
