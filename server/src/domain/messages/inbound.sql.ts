import type { Db } from '../../db/db.ts'

/** Where a payload of the network belongs: one of our numbers, connected through the app that posted it. */
export interface Destination {
  appId: string
  phoneNumberId: string
  senderId: string
  workspaceId: string
}

export const destinationsOf = (
  db: Db,
  numbers: readonly { appId: string; phoneNumberId: string }[],
): Promise<Destination[]> =>
  db.rows(
    `select s.app_id as "appId", s.phone_number_id as "phoneNumberId", s.id as "senderId",
       s.workspace_id as "workspaceId"
     from unnest($1::uuid[], $2::text[]) as n(app_id, phone_number_id)
     join senders s on s.app_id = n.app_id and s.phone_number_id = n.phone_number_id`,
    [numbers.map((number) => number.appId), numbers.map((number) => number.phoneNumberId)],
  )

/** Which of these ids of the network are messages that a sender of ours sent, and their ids here. */
export const sentAmong = (
  db: Db,
  quoted: readonly { senderId: string; waMessageId: string }[],
): Promise<{ senderId: string; waMessageId: string; id: string }[]> =>
  db.rows(
    `select m.sender_id as "senderId", m.wa_message_id as "waMessageId", m.id
     from unnest($1::uuid[], $2::text[]) as q(sender_id, wa_message_id)
     join messages m on m.sender_id = q.sender_id and m.wa_message_id = q.wa_message_id`,
    [quoted.map((each) => each.senderId), quoted.map((each) => each.waMessageId)],
  )

export interface InboundRow {
  id: string
  workspaceId: string
  senderId: string
  waMessageId: string
  sentBy: string | null
  sentByUserId: string | null
  profileName: string | null
  type: string
  receivedAt: Date
  content: object
}

/** Keeps each message of the network once, and says which were new. In order, so that two batches never wait in a circle. */
export async function insertInbound(db: Db, rows: readonly InboundRow[], now: Date): Promise<Set<string>> {
  const inserted = await db.rows<{ id: string }>(
    `insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, sent_by_user_id, profile_name,
       type, received_at, recorded_at, content)
     select n.id, n.workspace_id, n.sender_id, n.wa_message_id, n.sent_by, n.sent_by_user_id, n.profile_name,
       n.type, n.received_at, $10, n.content
     from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
       $9::timestamptz[], $11::json[])
       as n(id, workspace_id, sender_id, wa_message_id, sent_by, sent_by_user_id, profile_name, type, received_at, content)
     order by n.sender_id, n.wa_message_id
     on conflict (sender_id, wa_message_id) do nothing
     returning id`,
    [
      rows.map((row) => row.id),
      rows.map((row) => row.workspaceId),
      rows.map((row) => row.senderId),
      rows.map((row) => row.waMessageId),
      rows.map((row) => row.sentBy),
      rows.map((row) => row.sentByUserId),
      rows.map((row) => row.profileName),
      rows.map((row) => row.type),
      rows.map((row) => row.receivedAt),
      now,
      rows.map((row) => JSON.stringify(row.content)),
    ],
  )
  return new Set(inserted.map(({ id }) => id))
}
