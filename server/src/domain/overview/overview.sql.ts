import type { Db } from '../../db/db.ts'
import { without } from '../../db/without.ts'

/** What a workspace has to know of itself: these read the tables of many nouns, and only read. */

export interface StepRow {
  at: Date
  count: number
}

const fromIndex = <T>(db: Db, read: (tx: Db) => Promise<T>): Promise<T> =>
  without(['sort', 'seqscan', 'bitmapscan'], db, read)

/** Messages by the status they have now. Status and time lie in the index; the messages themselves are not read. */
export const messagesBySteps = (
  db: Db,
  workspaceId: string,
  from: Date,
  hours: number,
): Promise<(StepRow & { status: string })[]> =>
  fromIndex(db, (tx) =>
    tx.rows(
      `select date_bin(make_interval(hours => $3::int), created_at, $2::timestamptz) as at, status, count(*) from messages
       where workspace_id = $1 and created_at >= $2 group by 1, 2`,
      [workspaceId, from, hours],
    ),
  )

export const receivedBySteps = (db: Db, workspaceId: string, from: Date, hours: number): Promise<StepRow[]> =>
  fromIndex(db, (tx) =>
    tx.rows(
      `select date_bin(make_interval(hours => $3::int), recorded_at, $2::timestamptz) as at, count(*)
       from inbound_messages where workspace_id = $1 and recorded_at >= $2 group by 1`,
      [workspaceId, from, hours],
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
