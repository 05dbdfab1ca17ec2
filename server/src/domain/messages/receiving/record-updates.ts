import type { Db } from '../../../db/db.ts'
import type { InboundItem } from '../../../whatsapp/incoming-message.ts'
import type { StatusItem } from '../../../whatsapp/incoming-status.ts'
import type { Destination } from '../../senders/senders.ts'
import { saveInbound } from './inbound.ts'
import { saveStatuses, toReport } from './statuses.ts'

/** A message or a status, and the sender it belongs to. */
export interface RoutedUpdate {
  item: InboundItem | StatusItem
  destination: Destination
}

/** Stores messages and statuses with their events and deliveries. Run within a transaction. */
export async function saveUpdates(tx: Db, now: Date, updates: readonly RoutedUpdate[]): Promise<void> {
  await saveInbound(
    tx,
    now,
    updates.flatMap(({ item, destination }) => (item.kind === 'message' ? [{ item, destination }] : [])),
  )
  await saveStatuses(
    tx,
    now,
    updates.flatMap(({ item, destination }) => (item.kind === 'status' ? [toReport(item, destination)] : [])),
  )
}
