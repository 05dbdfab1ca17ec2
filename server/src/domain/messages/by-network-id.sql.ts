/**
 * A subquery for the message of a sender that has an ID of WhatsApp. The range and the order make PostgreSQL use the index of
 * both, if the statement runs with `oneWithOrderedLookups`: a plan that was made while the table was small would otherwise read
 * all messages of the sender or the workspace.
 */
export const byNetworkId = (table: 'messages' | 'inbound_messages', senderId: string, waMessageId: string): string =>
  `(select * from (
      select * from ${table} where sender_id = ${senderId} and wa_message_id >= ${waMessageId} order by wa_message_id limit 1
    ) as nearest where wa_message_id = ${waMessageId})`
