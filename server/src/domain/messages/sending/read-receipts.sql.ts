import type { Db } from '../../../db/db.ts'
import { statement } from '../../../db/statement.ts'
import type { DueNumber } from './due-numbers.ts'
import { movedSql, pacedSql, paceLeftSql, paceParameters } from './pace.sql.ts'

/**
 * Stores a receipt. Returns 0 if the workspace has no such message. If it is already stored, it is only changed; if the
 * network is being called for it, it is called once more, because that call may be without the typing indicator.
 */
export const insertReceipt = statement(
  { workspaceId: 'uuid', messageId: 'uuid', typing: 'bool', now: 'timestamptz' },
  ({ workspaceId, messageId, typing, now }) => `insert into read_receipts as r (message_id, workspace_id, sender_id,
       wa_message_id, typing, requested_at, due_at)
     select id, workspace_id, sender_id, wa_message_id, ${typing}, ${now}, ${now} from inbound_messages
     where workspace_id = ${workspaceId} and id = ${messageId} and wa_message_id not like 'erased:%'
       and source is null
     on conflict (message_id) do update set typing = r.typing or excluded.typing, requested_at = excluded.requested_at,
       due_at = case when r.lease is null then r.due_at else excluded.due_at end, lease = null`,
).change

/** A number with receipts, and its app. */
export type DueReceipts = DueNumber & { appId: string }

/** Senders with due receipts. The recursive CTE finds them by one index lookup per sender. */
export const sendersWithReceipts = (db: Db, now: Date): Promise<DueReceipts[]> =>
  db.rows(
    `with recursive busy as (
       (select sender_id from read_receipts order by sender_id limit 1)
       union all
       select (select r.sender_id from read_receipts r where r.sender_id > b.sender_id order by r.sender_id limit 1)
       from busy b where b.sender_id is not null)
     select s.id, s.workspace_id as "workspaceId", s.connection_id as "connectionId", s.app_id as "appId", s.throughput
     from busy b join senders s on s.id = b.sender_id
     where exists (select from read_receipts r where r.sender_id = s.id and r.due_at <= $1)`,
    [now],
  )

/** A receipt that only this process works on, as long as the row has its lease. */
export interface ClaimedReceipt {
  messageId: string
  lease: string
  workspaceId: string
  senderId: string
  connectionId: string
  appId: string
  phoneNumberId: string
  waMessageId: string
  typing: boolean
  requestedAt: Date
  /** Including the call that is about to be made. */
  attempts: number
}

/**
 * Leases due receipts, within the pace that they share with the messages of their sender. It does not wait for the disk: if
 * PostgreSQL crashes, the network is called once more.
 */
export const claimReceipts = statement(
  { ...paceParameters, leaseUntil: 'timestamptz', lease: 'uuid' },
  ({ quotas, now, leaseUntil, lease }) => `with ${pacedSql({ quotas, now })}, picked as materialized (
       select t.message_id, r.sender_id from paced r cross join lateral (
         select t.message_id from read_receipts t where t.sender_id = r.sender_id and t.due_at <= ${now}
         order by t.due_at, t.message_id limit ${paceLeftSql(now)} for update skip locked) t
     ), ${movedSql}, claimed as (
       update read_receipts t set due_at = ${leaseUntil}, lease = ${lease}, attempts = t.attempts + 1
       from picked where t.message_id = picked.message_id returning t.*
     )
     select t.message_id as "messageId", t.lease, t.workspace_id as "workspaceId", t.sender_id as "senderId",
       s.connection_id as "connectionId", s.app_id as "appId", s.phone_number_id as "phoneNumberId",
       t.wa_message_id as "waMessageId", t.typing, t.requested_at as "requestedAt", t.attempts
     from (select set_config('synchronous_commit', 'off', true)) as without_waiting, claimed t
     join senders s on s.id = t.sender_id`,
).rows<ClaimedReceipt>

type Leased = Pick<ClaimedReceipt, 'messageId' | 'lease'>

export const deleteReceipt = (db: Db, { messageId, lease }: Leased): Promise<number> =>
  db.change('delete from read_receipts where message_id = $1 and lease = $2', [messageId, lease])

export const retryReceipt = (db: Db, { messageId, lease }: Leased, dueAt: Date): Promise<number> =>
  db.change('update read_receipts set due_at = $3, lease = null where message_id = $1 and lease = $2', [
    messageId,
    lease,
    dueAt,
  ])

/** Of messages whose person is erased: WhatsApp's ID contains their number. */
export const deleteReceipts = (db: Db, messageIds: readonly string[]): Promise<number> =>
  db.change('delete from read_receipts where message_id = any($1::uuid[])', [messageIds])
