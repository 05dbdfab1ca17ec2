import type { Db } from '../../db/db.ts'
import { oneWithOrderedLookups } from '../../db/planner-settings.ts'

/**
 * A subquery for the message of a sender that has an ID of WhatsApp. The range and the order make PostgreSQL use the index of
 * both, if the statement runs with `oneWithOrderedLookups`: a plan that was made while the table was small would otherwise read
 * all messages of the sender or the workspace.
 */
export const byNetworkId = (table: 'messages' | 'inbound_messages', senderId: string, waMessageId: string): string =>
  `(select * from (
      select * from ${table} where sender_id = ${senderId} and wa_message_id >= ${waMessageId} order by wa_message_id limit 1
    ) as nearest where wa_message_id = ${waMessageId})`

/** Our IDs of the sent and received messages of these senders that have an ID of WhatsApp, which is unique per sender only. */
export const idsOfNetworkId = async (
  db: Db,
  workspaceId: string,
  senderIds: readonly string[],
  waMessageId: string,
): Promise<string[]> => {
  const found = (table: 'messages' | 'inbound_messages') =>
    `select m.id from unnest($2::uuid[]) as s(id) cross join lateral ${byNetworkId(table, 's.id', '$3')} as m
     where m.workspace_id = $1`
  const rows = await oneWithOrderedLookups(db, (tx) =>
    tx.rows<{ id: string }>(`${found('messages')} union all ${found('inbound_messages')}`, [
      workspaceId,
      senderIds,
      waMessageId,
    ]),
  )
  return rows.map(({ id }) => id)
}
