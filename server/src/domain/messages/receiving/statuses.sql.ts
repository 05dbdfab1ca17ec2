import type { MessageError } from '@parley/contract/events'
import type { Db } from '../../../db/db.ts'
import type { MessageStatus, NetworkStatus } from '../../../whatsapp/status-rank.ts'

export interface Tracked {
  id: string
  workspaceId: string
  senderId: string
  recipient: string
  status: MessageStatus
  waMessageId: string | null
  sentAt: Date | null
  /** The first of what follows the sending, where that is known already. */
  followedAt: Date | null
  /** The statuses it has had. */
  known: NetworkStatus[]
}

export interface Sighting {
  senderId: string
  waMessageId: string | null
  /** The id we gave the message when we sent it, where the network gives it back. */
  messageId: string | null
}

const spokenOf = `m.id in (
       select m.id from unnest($1::uuid[], $2::text[]) as q(sender_id, wa_message_id)
         join messages m on m.sender_id = q.sender_id and m.wa_message_id = q.wa_message_id
       union
       select m.id from unnest($1::uuid[], $3::uuid[]) as q(sender_id, message_id)
         join messages m on m.id = q.message_id and m.sender_id = q.sender_id)`

/**
 * The messages that these statuses speak of, locked until the transaction ends: by the network's id, or by our own, which
 * the network gives back before we know its id. Locked in order, so that two batches never wait in a circle. They are read
 * by a statement of its own: one that waits for a lock goes on to see other tables as they were before it waited, and would
 * miss a status that whoever held the lock has just written.
 */
export async function lockTracked(db: Db, seen: readonly Sighting[]): Promise<Tracked[]> {
  const values = [
    seen.map((each) => each.senderId),
    seen.map((each) => each.waMessageId),
    seen.map((each) => each.messageId),
  ]
  const [, tracked] = await Promise.all([
    db.rows(`select m.id from messages m where ${spokenOf} order by m.id for update of m`, values),
    db.rows<Tracked>(
      `select m.id, m.workspace_id as "workspaceId", m.sender_id as "senderId", m.recipient, m.status,
         m.wa_message_id as "waMessageId", m.sent_at as "sentAt",
         least(m.delivered_at, m.read_at, m.failed_at) as "followedAt",
         array(select s.status from message_statuses s where s.message_id = m.id) as known
       from messages m where ${spokenOf} order by m.id`,
      values,
    ),
  ])
  return tracked
}

export interface StatusRow {
  messageId: string
  workspaceId: string
  status: NetworkStatus
  occurredAt: Date
  error: MessageError | null
}

export const insertStatuses = (db: Db, rows: readonly StatusRow[]): Promise<number> =>
  db.change(
    `insert into message_statuses (message_id, workspace_id, status, occurred_at, error)
     select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::json[])`,
    [
      rows.map((row) => row.messageId),
      rows.map((row) => row.workspaceId),
      rows.map((row) => row.status),
      rows.map((row) => row.occurredAt),
      rows.map((row) => (row.error === null ? null : JSON.stringify(row.error))),
    ],
  )

export interface Standing {
  id: string
  status: MessageStatus
  waMessageId: string | null
  sentAt: Date | null
  deliveredAt: Date | null
  readAt: Date | null
  failedAt: Date | null
  error: MessageError | null
}

/** Writes where messages now stand; a time that is null is left as it is, and so is a known id of the network. */
export const updateStanding = (db: Db, rows: readonly Standing[]): Promise<number> =>
  db.change(
    `update messages m set
       status = n.status,
       wa_message_id = coalesce(m.wa_message_id, n.wa_message_id),
       sent_at = coalesce(m.sent_at, n.sent_at),
       delivered_at = coalesce(m.delivered_at, n.delivered_at),
       read_at = coalesce(m.read_at, n.read_at),
       failed_at = coalesce(m.failed_at, n.failed_at),
       error = case when n.status = 'failed' then coalesce(n.error, m.error) end
     from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[],
       $7::timestamptz[], $8::json[])
       as n(id, status, wa_message_id, sent_at, delivered_at, read_at, failed_at, error)
     where m.id = n.id`,
    [
      rows.map((row) => row.id),
      rows.map((row) => row.status),
      rows.map((row) => row.waMessageId),
      rows.map((row) => row.sentAt),
      rows.map((row) => row.deliveredAt),
      rows.map((row) => row.readAt),
      rows.map((row) => row.failedAt),
      rows.map((row) => (row.error === null ? null : JSON.stringify(row.error))),
    ],
  )

export interface EarlyStatus {
  senderId: string
  workspaceId: string
  waMessageId: string
  status: NetworkStatus
  occurredAt: Date
  error: MessageError | null
}

export const insertEarly = (db: Db, rows: readonly EarlyStatus[], now: Date): Promise<number> =>
  db.change(
    `insert into early_statuses (sender_id, workspace_id, wa_message_id, status, occurred_at, error, recorded_at)
     select n.*, $7 from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::json[])
       as n(sender_id, workspace_id, wa_message_id, status, occurred_at, error)
     order by n.sender_id, n.wa_message_id, n.status
     on conflict do nothing`,
    [
      rows.map((row) => row.senderId),
      rows.map((row) => row.workspaceId),
      rows.map((row) => row.waMessageId),
      rows.map((row) => row.status),
      rows.map((row) => row.occurredAt),
      rows.map((row) => (row.error === null ? null : JSON.stringify(row.error))),
      now,
    ],
  )

/** Takes early statuses whose message is known by now. */
export const takeMatchedEarly = (db: Db, limit: number): Promise<EarlyStatus[]> =>
  db.rows(
    `delete from early_statuses e using (
       select e.sender_id, e.wa_message_id, e.status from early_statuses e
       join messages m on m.sender_id = e.sender_id and m.wa_message_id = e.wa_message_id
       limit $1 for update of e skip locked) as matched
     where (e.sender_id, e.wa_message_id, e.status) = (matched.sender_id, matched.wa_message_id, matched.status)
     returning e.sender_id as "senderId", e.workspace_id as "workspaceId", e.wa_message_id as "waMessageId", e.status,
       e.occurred_at as "occurredAt", e.error`,
    [limit],
  )

/** Those of messages that some other app sent never match. */
export const dropOldEarly = (db: Db, before: Date): Promise<number> =>
  db.change('delete from early_statuses where recorded_at < $1', [before])
