import type { MessageError } from '@parley/contract/events'
import type { Db } from '../../../db/db.ts'
import { oneWithOrderedLookups } from '../../../db/planner-settings.ts'
import { byNetworkId } from '../by-network-id.sql.ts'
import type { Content } from '../sending/send.sql.ts'
import { type MessageListRow, receivedTable, sentTable } from './console-list.sql.ts'
import { contentColumns, isChange, type StoredContent } from './timeline.sql.ts'

/** One of the newest messages with a person, and the names and IDs in it. */
export interface Trace {
  direction: 'sent' | 'received'
  senderId: string
  /** When it was stored. */
  at: Date
  /** When the person wrote it to the sender; null for sent messages, and in a group. */
  writtenAt: Date | null
  userId: string | null
  username: string | null
  profileName: string | null
}

/** A person is in the columns of these indexes: by number, or by user ID if there is no number. */
const receivedFrom = {
  number: 'sent_by = $2',
  userId: 'sent_by is null and sent_by_user_id = $2',
} as const

/** The newest messages with a person, at most `take` in each direction. */
export const newestTraces = (
  db: Db,
  workspaceId: string,
  person: { kind: 'number' | 'userId'; id: string },
  take: number,
): Promise<Trace[]> =>
  db.rows(
    `(select case when source is null then 'received' else 'sent' end as direction, sender_id as "senderId", recorded_at as at,
        case when source is null and content ->> 'groupId' is null then received_at end as "writtenAt", sent_by_user_id as "userId",
        content ->> 'username' as username, profile_name as "profileName"
      from inbound_messages where workspace_id = $1 and ${receivedFrom[person.kind]}
      order by recorded_at desc, id desc limit $3)
     union all
     (select 'sent', sender_id, created_at, null, recipient_user_id, null, null
      from messages where workspace_id = $1 and recipient = $2
      order by created_at desc, id desc limit $3)
     order by at desc`,
    [workspaceId, person.id, take],
  )

export interface SentContent {
  id: string
  content: Content
  error: MessageError | null
  quoted: string | null
}

export const sentContents = (db: Db, workspaceId: string, ids: readonly string[]): Promise<SentContent[]> =>
  db.rows(
    `select id, content, error, quoted_wa_message_id as quoted from messages
     where workspace_id = $1 and id = any($2::uuid[])`,
    [workspaceId, ids],
  )

export const receivedContents = (db: Db, workspaceId: string, ids: readonly string[]) =>
  db.rows<StoredContent & { id: string }>(
    `select id, ${contentColumns} from inbound_messages where workspace_id = $1 and id = any($2::uuid[])`,
    [workspaceId, ids],
  )

/** An edit or a deletion of a message. The new text of an edit is null for a file without a caption. */
export interface MessageChange {
  id: string
  isDeletion: boolean
  text: string | null
  at: Date
}

/** Later edits and deletions of messages, the oldest change first. */
export const changesOf = (db: Db, workspaceId: string, ids: readonly string[]): Promise<MessageChange[]> =>
  db.rows(
    `select original.id, c.content -> 'deletion' is not null as "isDeletion", c.content #>> '{edit,text}' as text,
       c.received_at as at
     from (
       select id, sender_id, wa_message_id from messages where workspace_id = $1 and id = any($2::uuid[])
       union all
       select id, sender_id, wa_message_id from inbound_messages where workspace_id = $1 and id = any($2::uuid[])
     ) as original
     cross join lateral (
       select content, received_at, id from inbound_messages
       where sender_id = original.sender_id and quoted_wa_message_id = original.wa_message_id and ${isChange} offset 0
     ) as c
     order by c.received_at, c.id`,
    [workspaceId, ids],
  )

/** A message that others refer to, by the network's ID. */
export type NamedMessage = MessageListRow & { wanted_sender_id: string; wanted_id: string }

/** The stored messages with these WhatsApp IDs, each of its sender. */
export const messagesByNetworkId = (
  db: Db,
  workspaceId: string,
  wanted: readonly { senderId: string; waMessageId: string }[],
): Promise<NamedMessage[]> => {
  const one = ({ name, columns }: typeof sentTable | typeof receivedTable) =>
    `(select ${columns} from ${byNetworkId(name, 'wanted.from_sender', 'wanted.network_id')} as m where m.workspace_id = $1)`
  return oneWithOrderedLookups(db, (tx) =>
    tx.rows(
      `select wanted.from_sender as wanted_sender_id, wanted.network_id as wanted_id, found.*
     from unnest($2::uuid[], $3::text[]) as wanted(from_sender, network_id)
     cross join lateral (${one(sentTable)} union all ${one(receivedTable)} limit 1) as found`,
      [workspaceId, wanted.map(({ senderId }) => senderId), wanted.map(({ waMessageId }) => waMessageId)],
    ),
  )
}
