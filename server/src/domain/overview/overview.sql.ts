import { type MessageStatus, messageStatuses } from '@parley/contract/message'
import type { Db } from '../../db/db.ts'
import { without } from '../../db/without.ts'
import type { Steps } from '../../lib/steps.ts'

/** What a workspace has to know of itself: these read the tables of many nouns, and only read. */

const fromIndex = <T>(db: Db, read: (tx: Db) => Promise<T>): Promise<T> =>
  without(['sort', 'seqscan', 'bitmapscan'], db, read)

export interface SentRow extends Record<MessageStatus, number> {
  at: Date
}

/**
 * Messages by the status they have now, for each step. Status and time lie in the index, where a step is a stretch of its
 * own: neither the messages themselves are read nor is it worked out for each in which step it lies.
 */
export const messagesBySteps = (db: Db, workspaceId: string, { starts, hours }: Steps): Promise<SentRow[]> =>
  fromIndex(db, (tx) =>
    tx.rows(
      `select s.at, m.* from unnest($2::timestamptz[]) as s(at) cross join lateral (
         select ${messageStatuses.map((status) => `count(*) filter (where status = '${status}') as ${status}`).join(', ')}
         from messages where workspace_id = $1 and created_at >= s.at and created_at < s.at + make_interval(hours => $3::int)
       ) as m`,
      [workspaceId, starts, hours],
    ),
  )

export const receivedBySteps = (
  db: Db,
  workspaceId: string,
  { starts, hours }: Steps,
): Promise<{ at: Date; count: number }[]> =>
  fromIndex(db, (tx) =>
    tx.rows(
      `select s.at, m.count from unnest($2::timestamptz[]) as s(at) cross join lateral (
         select count(*) from inbound_messages
         where workspace_id = $1 and recorded_at >= s.at and recorded_at < s.at + make_interval(hours => $3::int)
       ) as m`,
      [workspaceId, starts, hours],
    ),
  )

/**
 * What messages cost since a time, less what was given back: whole days of UTC as they were counted, and what lies before
 * the first of them entry by entry.
 */
export async function creditsSpent(db: Db, workspaceId: string, from: Date): Promise<number> {
  const firstDay = new Date(Math.ceil(from.getTime() / 86_400_000) * 86_400_000)
  const row = await fromIndex(db, (tx) =>
    tx.first<{ spent: number }>(
      `select (
         coalesce((select sum(spent - refunded) from credit_days
           where workspace_id = $1 and day >= ($3::timestamptz at time zone 'UTC')::date), 0)
         - coalesce((select sum(amount) from credit_entries
           where workspace_id = $1 and created_at >= $2 and created_at < $3 and kind in ('debit', 'refund')), 0)
       )::bigint as spent`,
      [workspaceId, from, firstDay],
    ),
  )
  return row?.spent ?? 0
}

export async function lowBalanceOf(db: Db, workspaceId: string): Promise<number> {
  const row = await db.first<{ low_balance: number }>('select low_balance from workspaces where id = $1', [workspaceId])
  return row?.low_balance ?? 0
}

export interface Facts {
  sender: boolean
  key: boolean
  request: boolean
  webhook: boolean
  delivery: boolean
  teammate: boolean
  keyHint: string | null
}

/** Which of the first steps were taken. */
export const readFacts = (db: Db, workspaceId: string, now: Date): Promise<Facts | undefined> =>
  db.first(
    `select
       exists (select 1 from senders where workspace_id = $1 and status <> 'DELETED') as sender,
       exists (select 1 from api_keys where workspace_id = $1 and revoked_at is null) as key,
       exists (select 1 from key_usage where workspace_id = $1) as request,
       exists (select 1 from webhooks where workspace_id = $1 and deleted_at is null) as webhook,
       exists (select 1 from webhooks where workspace_id = $1 and last_success_at is not null) as delivery,
       (select count(*) from memberships where workspace_id = $1) > 1
         or exists (select 1 from links where workspace_id = $1 and kind = 'invite') as teammate,
       (select hint from api_keys where workspace_id = $1 and revoked_at is null
          and (expires_at is null or expires_at > $2) order by created_at desc, id desc limit 1) as "keyHint"`,
    [workspaceId, now],
  )
