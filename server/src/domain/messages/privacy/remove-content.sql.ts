import type { Db } from '../../../db/db.ts'
import { isChange } from '../reading/timeline.sql.ts'

/** What remains of the content of a sent message. */
export const nothingSent = `'{"request":null}'::json`

/** The next messages after a position whose IDs are lower than `endId`. */
export interface RemovalRange {
  position: string
  endId: string
  take: number
}

/** The messages that a batch read. */
export interface Looked {
  looked: number
  removed: number
  /** The last message that was looked at. */
  position: string | null
}

const nothing: Looked = { looked: 0, removed: 0, position: null }

/**
 * Removes the contents of sent messages, in the order of their IDs, which begin with the time. Ends before the first message
 * of the outbox, which may still have to be sent. No indexed column changes.
 */
export const removeSentContent = async (db: Db, { position, endId, take }: RemovalRange, now: Date): Promise<Looked> =>
  (await db.first<Looked>(
    `with old as materialized (
       select id from messages
       where id > $1 and id < least($2::uuid, (select message_id from outbox order by message_id limit 1))
       order by id limit $3
     ), removed as (
       update messages m set content = ${nothingSent}, content_removed_at = $4
       where m.id = any(array(select id from old)) and m.content_removed_at is null
       returning 1
     )
     select (select count(*) from old)::int as looked, (select count(*) from removed)::int as removed,
       (select id from old order by id desc limit 1) as position`,
    [position, endId, take, now],
  )) ?? nothing

/**
 * Removes the contents of inbound messages. The group of a message stays: without it, the message would belong to another
 * conversation. The reference of an edit or a deletion to the changed message is removed: it would be read as the quote of a reply.
 */
export const removeReceivedContent = async (
  db: Db,
  { position, endId, take }: RemovalRange,
  now: Date,
): Promise<Looked & { messageIds: string[] }> =>
  (await db.first<Looked & { messageIds: string[] }>(
    `with old as materialized (
       select id from inbound_messages where id > $1 and id < $2 order by id limit $3
     ), removed as (
       update inbound_messages m set profile_name = null, content_removed_at = $4,
         content = case when m.content ->> 'groupId' is null then '{}'
           else json_build_object('groupId', m.content ->> 'groupId') end,
         quoted_wa_message_id = case when not ${isChange} then m.quoted_wa_message_id end
       where m.id = any(array(select id from old)) and m.content_removed_at is null
       returning m.id
     )
     select (select count(*) from old)::int as looked, (select count(*) from removed)::int as removed,
       (select id from old order by id desc limit 1) as position,
       coalesce((select array_agg(id) from removed), '{}') as "messageIds"`,
    [position, endId, take, now],
  )) ?? { ...nothing, messageIds: [] }
