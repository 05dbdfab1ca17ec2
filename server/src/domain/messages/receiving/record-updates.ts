import type { Db } from '../../../db/db.ts'
import type { EchoItem } from '../../../whatsapp/incoming/echo.ts'
import type { HandoverItem } from '../../../whatsapp/incoming/handover.ts'
import type { HistoryChunk } from '../../../whatsapp/incoming/history.ts'
import type { Incoming } from '../../../whatsapp/incoming/incoming.ts'
import type { InboundItem } from '../../../whatsapp/incoming/message.ts'
import type { PreferenceItem } from '../../../whatsapp/incoming/preference.ts'
import type { SavedContactItem } from '../../../whatsapp/incoming/saved-contact.ts'
import type { StatusItem } from '../../../whatsapp/incoming/status.ts'
import type { UserIdChange } from '../../../whatsapp/incoming/system.ts'
import { savePreferences } from '../../senders/preferences.ts'
import type { Destination } from '../../senders/senders.ts'
import { insertUserIdChanges } from '../user-ids.sql.ts'
import { saveHandovers } from './handovers.ts'
import { saveHistory } from './history.ts'
import { saveEchoes, saveInbound } from './inbound.ts'
import { saveContacts } from './saved-contacts.sql.ts'
import { toReport } from './status-changes.ts'
import { saveStatuses } from './statuses.ts'

/** A part of a webhook that belongs to a sender. */
export type UpdateItem =
  | InboundItem
  | EchoItem
  | StatusItem
  | UserIdChange
  | PreferenceItem
  | HandoverItem
  | HistoryChunk
  | SavedContactItem

const updateKinds: ReadonlySet<Incoming['kind']> = new Set<UpdateItem['kind']>([
  'message',
  'echo',
  'status',
  'user_id_change',
  'preference',
  'handover',
  'history',
  'saved_contact',
])

export const isUpdate = (item: Incoming): item is UpdateItem => updateKinds.has(item.kind)

/** A part of a webhook and the sender it belongs to. */
export interface RoutedUpdate {
  item: UpdateItem
  destination: Destination
}

/**
 * Stores messages, statuses, preferences, handovers and past messages with their events and deliveries, changes of user IDs and
 * the names of contacts. Run within a transaction.
 */
export async function saveUpdates(
  tx: Db,
  now: Date,
  updates: readonly RoutedUpdate[],
  publicUrl: string,
): Promise<void> {
  const of = <Kind extends UpdateItem['kind']>(kind: Kind) =>
    updates.filter(
      (each): each is { item: Extract<UpdateItem, { kind: Kind }>; destination: Destination } =>
        each.item.kind === kind,
    )
  await saveInbound(tx, now, of('message'), publicUrl)
  await saveEchoes(tx, now, of('echo'), publicUrl)
  await saveStatuses(
    tx,
    now,
    of('status').map(({ item, destination }) => toReport(item, destination)),
  )
  const changes = of('user_id_change').map(({ item, destination: { workspaceId } }) => ({ ...item, workspaceId }))
  if (changes.length > 0) await insertUserIdChanges(tx, { changes })
  await savePreferences(tx, now, of('preference'))
  await saveHandovers(tx, now, of('handover'))
  await saveHistory(tx, now, of('history'))
  const contacts = of('saved_contact').map(({ item, destination }) => ({ ...item, ...destination }))
  if (contacts.length > 0) await saveContacts(tx, { contacts })
}
