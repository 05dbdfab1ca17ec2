import type { Db } from '../../db/db.ts'

/** The orders that arrived as these messages lose what the person wrote, and their name. What was ordered stays. */
export const removeOrderNotes = (db: Db, messageIds: readonly string[]): Promise<number> =>
  db.change(
    `update orders set note = null, profile_name = null
     where message_id = any($1::uuid[]) and (note is not null or profile_name is not null)`,
    [messageIds],
  )

/** They also lose who ordered. */
export const eraseOrders = (db: Db, workspaceId: string, messageIds: readonly string[]): Promise<number> =>
  db.change(
    `update orders set note = null, profile_name = null, sent_by = null, sent_by_user_id = null
     where workspace_id = $1 and message_id = any($2::uuid[])`,
    [workspaceId, messageIds],
  )
