import type { Db } from '../../../db/db.ts'
import type { InboundItem } from '../../../whatsapp/incoming-message.ts'
import type { StatusItem } from '../../../whatsapp/incoming-status.ts'
import type { Destination } from '../../senders/senders.ts'
import { keepInbound } from './inbound.ts'
import { keepStatuses, toReport } from './statuses.ts'

/** A message or a status, and the sender it belongs to. */
export interface Placed {
  item: InboundItem | StatusItem
  destination: Destination
}

/** Stores messages and statuses with their events and deliveries. Run within a transaction. */
export async function keepPlaced(tx: Db, now: Date, placed: readonly Placed[]): Promise<void> {
  await keepInbound(
    tx,
    now,
    placed.flatMap(({ item, destination }) => (item.kind === 'message' ? [{ item, destination }] : [])),
  )
  await keepStatuses(
    tx,
    now,
    placed.flatMap(({ item, destination }) => (item.kind === 'status' ? [toReport(item, destination)] : [])),
  )
}
