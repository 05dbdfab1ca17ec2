import type { Db } from '../../../db/db.ts'

/** When the latest inbound message of any of these senders was recorded: one index lookup for each. */
export const lastInbound = (db: Db, senderIds: readonly string[]): Promise<{ at: Date | null } | undefined> =>
  db.first(
    `select max(l.recorded_at) as at from unnest($1::uuid[]) as s(id) cross join lateral (
       select recorded_at from inbound_messages where sender_id = s.id order by recorded_at desc limit 1) as l`,
    [senderIds],
  )

/** When the latest status of the newest messages of any of these senders occurred. */
export const lastStatus = (db: Db, senders: readonly { id: string; workspaceId: string }[]) =>
  db.first<{ at: Date | null }>(
    `select max(l.at) as at from unnest($1::uuid[], $2::uuid[]) as s(id, workspace_id) cross join lateral (
       select greatest(delivered_at, read_at, failed_at) as at from messages
       where workspace_id = s.workspace_id and sender_id = s.id and wa_message_id is not null
       order by created_at desc limit 10) as l`,
    [senders.map(({ id }) => id), senders.map(({ workspaceId }) => workspaceId)],
  )

export interface StatusCounts {
  /** How many of the newest messages the network accepted a while ago. */
  accepted: number
  /**
   * How many messages were accepted after the newest message with a status from a webhook. The status `sent` is recorded without a
   * webhook, but only a webhook has its price.
   */
  withoutStatus: number
  lastStatusAt: Date | null
}

/** Counts the statuses of a sender's newest messages that were accepted before a time. */
export const newestStatuses = (db: Db, workspaceId: string, senderId: string, before: Date) =>
  db.first<StatusCounts>(
    `select count(*)::int as accepted, max(status_at) as "lastStatusAt",
       coalesce(min(n) filter (where status_at is not null or pricing is not null) - 1, count(*))::int as "withoutStatus"
     from (
       select greatest(delivered_at, read_at, failed_at) as status_at, pricing,
         row_number() over (order by created_at desc) as n
       from messages
       where workspace_id = $1 and sender_id = $2 and wa_message_id is not null and created_at < $3
       order by created_at desc limit 50) as newest`,
    [workspaceId, senderId, before],
  )
