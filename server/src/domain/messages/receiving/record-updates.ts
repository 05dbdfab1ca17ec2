import type { Db } from '../../../db/db.ts'
import type { Incoming } from '../../../whatsapp/incoming/incoming.ts'
import type { InboundItem } from '../../../whatsapp/incoming/message.ts'
import type { PreferenceItem } from '../../../whatsapp/incoming/preference.ts'
import type { StatusItem } from '../../../whatsapp/incoming/status.ts'
import type { UserIdChange } from '../../../whatsapp/incoming/system.ts'
import { savePreferences } from '../../senders/preferences.ts'
import type { Destination } from '../../senders/senders.ts'
import { insertUserIdChanges } from '../user-ids.sql.ts'
import { saveInbound } from './inbound.ts'
import { toReport } from './status-changes.ts'
import { saveStatuses } from './statuses.ts'

/** A part of a webhook that belongs to a sender. */
export type UpdateItem = InboundItem | StatusItem | UserIdChange | PreferenceItem

export const isUpdate = (item: Incoming): item is UpdateItem =>
  item.kind === 'message' || item.kind === 'status' || item.kind === 'user_id_change' || item.kind === 'preference'

/** A part of a webhook and the sender it belongs to. */
export interface RoutedUpdate {
  item: UpdateItem
  destination: Destination
}

/**
 * Stores messages, statuses and preferences with their events and deliveries, and changes of user IDs. Run within a
 * transaction.
 */
export async function saveUpdates(
  tx: Db,
  now: Date,
  updates: readonly RoutedUpdate[],
  publicUrl: string,
): Promise<void> {
  await saveInbound(
    tx,
    now,
    updates.flatMap(({ item, destination }) => (item.kind === 'message' ? [{ item, destination }] : [])),
    publicUrl,
  )
  await saveStatuses(
    tx,
    now,
    updates.flatMap(({ item, destination }) => (item.kind === 'status' ? [toReport(item, destination)] : [])),
  )
  const changes = updates.flatMap(({ item, destination: { workspaceId } }) =>
    item.kind === 'user_id_change' ? [{ ...item, workspaceId }] : [],
  )
  if (changes.length > 0) await insertUserIdChanges(tx, changes)
  await savePreferences(
    tx,
    now,
    updates.flatMap(({ item, destination }) => (item.kind === 'preference' ? [{ item, destination }] : [])),
  )
}
