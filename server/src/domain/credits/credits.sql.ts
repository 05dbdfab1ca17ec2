import type { Db } from '../../db/db.ts'
import { withPlannerSettingsOff } from '../../db/planner-settings.ts'
import { statement } from '../../db/statement.ts'

export interface EntryRow {
  id: string
  kind: 'grant' | 'debit' | 'refund' | 'adjust'
  amount: number
  balance_after: number
  message_id: string | null
  note: string | null
  created_at: Date
}

export const entryColumns = 'id, kind, amount, balance_after, message_id, note, created_at'

/**
 * Changes the balance by the entry's amount, inserts the entry and adds it to the day's totals, in one statement.
 * Undefined if the balance would fall below zero.
 */
export const moveBalance = statement(
  {
    workspaceId: 'uuid',
    id: 'uuid',
    kind: 'text',
    amount: 'bigint',
    messageId: 'uuid',
    note: 'text',
    at: 'timestamptz',
  },
  ({ workspaceId, id, kind, amount, messageId, note, at }) => `with moved as (
       update credit_balances set balance = balance + ${amount}
       where workspace_id = ${workspaceId} and balance + ${amount} >= 0 returning balance
     ), entered as (
       insert into credit_entries (id, workspace_id, kind, amount, balance_after, message_id, note, created_at)
       select ${id}, ${workspaceId}, ${kind}, ${amount}, balance, ${messageId}, ${note}, ${at} from moved
     ), counted as (
       insert into credit_days as d (workspace_id, day, spent, refunded)
       select ${workspaceId}, (${at} at time zone 'UTC')::date, case when ${kind} = 'debit' then -${amount} else 0 end,
         case when ${kind} = 'refund' then ${amount} else 0 end from moved
       on conflict (workspace_id, day) do update set spent = d.spent + excluded.spent,
         refunded = d.refunded + excluded.refunded
     )
     select balance from moved`,
).first<{ balance: number }>

/**
 * A CTE that says which messages their workspaces can pay for, in order, without locking anything: `priced` has the number of
 * each message, the balance, and whether it suffices for the message and all before it. `messages` names rows of (n,
 * workspace_id, credits).
 */
export const pricedSql = (messages: string): string => `
     priced as materialized (
       select p.n, p.balance, p.credits = 0 or p.so_far <= p.balance as is_affordable
       from (
         select m.n, m.credits, coalesce(b.balance, 0) as balance,
           sum(m.credits) over (partition by m.workspace_id order by m.n) as so_far
         from ${messages} m left join credit_balances b on b.workspace_id = m.workspace_id) as p
     )`

/**
 * CTEs that debit messages: they lower each balance once and add an entry for each message. `debited` has what each workspace
 * has paid. Fails if a balance fell below the price after `priced` was read. Balances are locked in order, so that two batches
 * cannot deadlock, and after all rows of `before` were written. `messages` names rows of (n, id, workspace_id, credits,
 * entry_id).
 */
export const debitSql = (messages: string, before: string, at: string): string => `
     debited as materialized (
       select workspace_id, sum(credits)::bigint as spent from ${messages} where credits > 0 group by workspace_id
     ), locked_balances as materialized (
       select b.workspace_id from credit_balances b
       where b.workspace_id = any(array(select workspace_id from debited)) and (select count(*) from ${before}) >= 0
       order by b.workspace_id for update
     ), moved as (
       update credit_balances b set balance = b.balance - p.spent
       from locked_balances l join debited p on p.workspace_id = l.workspace_id
       where b.workspace_id = l.workspace_id
       returning b.workspace_id, b.balance + p.spent as balance
     ), entered as (
       insert into credit_entries (id, workspace_id, kind, amount, balance_after, message_id, created_at)
       select m.entry_id, m.workspace_id, 'debit', -m.credits,
         b.balance - sum(m.credits) over (partition by m.workspace_id order by m.n), m.id, ${at}
       from ${messages} m join moved b on b.workspace_id = m.workspace_id where m.credits > 0
     ), counted_credits as (
       insert into credit_days as d (workspace_id, day, spent, refunded)
       select b.workspace_id, (${at} at time zone 'UTC')::date, p.spent, 0
       from moved b join debited p on p.workspace_id = b.workspace_id order by b.workspace_id
       on conflict (workspace_id, day) do update set spent = d.spent + excluded.spent
     )`

/** `debitSql` failed: another transaction has spent the credits in between. Nothing was changed. */
export const isOverdrawn = (error: unknown): boolean => {
  const { code, table } = error as { code?: string; table?: string }
  return code === '23514' && table === 'credit_balances'
}

export const openBalance = (db: Db, workspaceId: string): Promise<number> =>
  db.change('insert into credit_balances (workspace_id, balance) values ($1, 0) on conflict do nothing', [workspaceId])

export const balanceOf = (db: Db, workspaceId: string): Promise<{ balance: number } | undefined> =>
  db.first('select balance from credit_balances where workspace_id = $1', [workspaceId])

/**
 * Whether a workspace ever had credits: its ledger has an entry. A workspace that never had credits has not used them
 * up.
 */
export const hadCredits = async (db: Db, workspaceId: string): Promise<boolean> =>
  (await db.first('select 1 as one from credit_entries where workspace_id = $1 limit 1', [workspaceId])) !== undefined

/** Locks a balance until the transaction ends. */
export const lockBalance = (db: Db, workspaceId: string): Promise<{ balance: number } | undefined> =>
  db.first('select balance from credit_balances where workspace_id = $1 for update', [workspaceId])

/** The debits of these messages that have not been refunded. Run with the balance locked. */
export const unrefunded = (db: Db, workspaceId: string, messageIds: readonly string[]) =>
  db.rows<{ message_id: string; amount: number }>(
    `select message_id, -amount as amount from credit_entries d
     where workspace_id = $1 and kind = 'debit' and message_id = any($2::uuid[]) and not exists (
       select 1 from credit_entries r where r.message_id = d.message_id and r.kind = 'refund')
     order by message_id`,
    [workspaceId, messageIds],
  )

/** The debit and the refund of a message. */
export const entriesOfMessage = (db: Db, workspaceId: string, messageId: string): Promise<EntryRow[]> =>
  db.rows(
    `select ${entryColumns} from credit_entries
     where workspace_id = $1 and message_id = $2 order by created_at, id`,
    [workspaceId, messageId],
  )

export const priceRows = (db: Db): Promise<{ item: string; credits: number }[]> =>
  db.rows('select item, credits from prices order by item')

export const upsertPrice = (db: Db, item: string, credits: number): Promise<number> =>
  db.change(
    `insert into prices (item, credits) values ($1, $2) on conflict (item) do update set credits = excluded.credits`,
    [item, credits],
  )

/** The balance of every workspace, and the credits it spent since a time. */
export const balancesSince = (db: Db, since: Date) =>
  db.rows<{ workspaceId: string; balance: number; spent: number }>(
    `select b.workspace_id as "workspaceId", b.balance, s.spent from credit_balances b
     cross join lateral (
       select coalesce(-sum(e.amount), 0)::int as spent from credit_entries e
       where e.workspace_id = b.workspace_id and e.created_at > $1 and e.kind = 'debit') as s`,
    [since],
  )

export const allBalances = (db: Db): Promise<{ workspaceId: string; balance: number }[]> =>
  db.rows('select workspace_id as "workspaceId", balance from credit_balances')

/**
 * The credits spent since a time, or between two, less refunds: the daily totals for full days (UTC), and the single entries
 * before the first full day and after the last one.
 */
export async function creditsSpent(db: Db, workspaceId: string, from: Date, until?: Date): Promise<number> {
  const firstDay = new Date(Math.ceil(from.getTime() / 86_400_000) * 86_400_000)
  const lastDay = until && new Date(Math.floor(until.getTime() / 86_400_000) * 86_400_000)
  const isAmount = `workspace_id = $1 and kind in ('debit', 'refund')`
  const row = await withPlannerSettingsOff(['sort', 'seqscan', 'bitmapscan'], db, (tx) =>
    tx.first<{ spent: number }>(
      `select (
         coalesce((select sum(spent - refunded) from credit_days
           where workspace_id = $1 and day >= ($3::timestamptz at time zone 'UTC')::date
             and day < (coalesce($4::timestamptz, 'infinity') at time zone 'UTC')::date), 0)
         - coalesce((select sum(amount) from credit_entries
           where ${isAmount} and created_at >= $2 and created_at < least($3, $5::timestamptz)), 0)
         - coalesce((select sum(amount) from credit_entries
           where ${isAmount} and created_at >= greatest($3, $4) and created_at < $5), 0)
       )::bigint as spent`,
      [workspaceId, from, firstDay, lastDay ?? null, until ?? null],
    ),
  )
  return row?.spent ?? 0
}
