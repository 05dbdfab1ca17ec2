import type { Db } from '../../../db/db.ts'

/** Only this many of the first and of the last messages are looked at, so that it stays fast in a large workspace. */
const looked = 200

const accepted = `('sent', 'delivered', 'read')`

const firstAndLast = (columns: string, table: string, time: string, condition = 'true') =>
  `((select ${columns} from ${table} where workspace_id = $1 and ${condition} order by ${time}, id limit ${looked})
    union all
    (select ${columns} from ${table} where workspace_id = $1 and ${condition}
     order by ${time} desc, id desc limit ${looked}))`

const isFound = async (db: Db, query: string, workspaceId: string): Promise<boolean> =>
  (await db.first(query, [workspaceId])) !== undefined

/** Whether the network accepted a message. */
export const anySent = (db: Db, workspaceId: string): Promise<boolean> =>
  isFound(
    db,
    `select 1 as one from ${firstAndLast('status', 'messages', 'created_at')} as looked
     where status in ${accepted} limit 1`,
    workspaceId,
  )

export const anyReceived = (db: Db, workspaceId: string): Promise<boolean> =>
  isFound(db, 'select 1 as one from inbound_messages where workspace_id = $1 and source is null limit 1', workspaceId)

/** Whether the workspace has at least this many messages, in and out together. */
export const hasMessages = async (db: Db, workspaceId: string, count: number): Promise<boolean> => {
  const some = (table: string, time: string) =>
    `(select 1 as one from ${table} where workspace_id = $1 order by ${time} limit $2::int)`
  const sql = `select one from (${some('messages', 'created_at')} union all ${some('inbound_messages', 'recorded_at')}) as counted
    offset $2::int - 1 limit 1`
  return (await db.first(sql, [workspaceId, count])) !== undefined
}

/** Whether the network accepted a message to a person who had written to the same sender before. */
export const anyReplied = (db: Db, workspaceId: string): Promise<boolean> =>
  isFound(
    db,
    `select 1 as one
     from ${firstAndLast('sender_id, coalesce(sent_by, sent_by_user_id) as person, recorded_at', 'inbound_messages', 'recorded_at', 'source is null')} as received
     cross join lateral (
       select sender_id, status from messages
       where workspace_id = $1 and recipient = received.person and created_at > received.recorded_at
       order by created_at, id limit 20
     ) as replies
     where replies.sender_id = received.sender_id and replies.status in ${accepted} limit 1`,
    workspaceId,
  )
