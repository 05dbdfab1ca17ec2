import type { Db } from '../../db/db.ts'
import { senderIdsOf } from '../senders/senders.ts'
import { idsOfNetworkId } from './by-network-id.sql.ts'

/** Our IDs of the messages that have an ID of WhatsApp, of one sender or of all senders of the workspace. */
export const messageIdsOf = async (
  db: Db,
  workspaceId: string,
  waMessageId: string,
  senderId?: string,
): Promise<string[]> =>
  idsOfNetworkId(db, workspaceId, senderId ? [senderId] : await senderIdsOf(db, workspaceId), waMessageId)
