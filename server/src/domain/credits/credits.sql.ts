import type { Db } from '../../db/db.ts'

export interface EntryRow {
  id: string
  kind: 'grant' | 'debit' | 'refund' | 'adjust'
  amount: number
  balance_after: number
  message_id: string | null
  note: string | null
  created_at: Date
}

export interface NewEntry {
  id: string
  workspaceId: string
  kind: EntryRow['kind']
  amount: number
  messageId: string | null
  note: string | null
  at: Date
}

const entered = `insert into credit_entries (id, workspace_id, kind, amount, balance_after, message_id, note, created_at)
  select $2, $1, $3, $4::bigint, balance, $5, $6, $7 from moved`

const counted = `insert into credit_days as d (workspace_id, day, spent, refunded)
  select $1, ($7::timestamptz at time zone 'UTC')::date, case when $3 = 'debit' then -$4::bigint else 0 end,
    case when $3 = 'refund' then $4::bigint else 0 end from moved
  on conflict (workspace_id, day) do update set spent = d.spent + excluded.spent,
    refunded = d.refunded + excluded.refunded`

const valuesOf = ({ workspaceId, id, kind, amount, messageId, note, at }: NewEntry) => [
  workspaceId,
  id,
  kind,
  amount,
  messageId,
  note,
  at,
]

/** Moves the balance by the entry's amount, enters it and counts it for its day, in one statement. Undefined: the balance would be below zero. */
export const moveBalance = (db: Db, entry: NewEntry): Promise<{ balance: number } | undefined> =>
  db.first(
    `with moved as (
       update credit_balances set balance = balance + $4::bigint
       where workspace_id = $1 and balance + $4::bigint >= 0 returning balance
     ), kept as (${entered}), noted as (${counted})
     select balance from moved`,
    valuesOf(entry),
  )

export const openBalance = (db: Db, workspaceId: string): Promise<number> =>
  db.change('insert into credit_balances (workspace_id, balance) values ($1, 0) on conflict do nothing', [workspaceId])

export const balanceOf = (db: Db, workspaceId: string): Promise<{ balance: number } | undefined> =>
  db.first('select balance from credit_balances where workspace_id = $1', [workspaceId])

/** Holds a balance until the transaction ends. */
export const lockBalance = (db: Db, workspaceId: string): Promise<{ balance: number } | undefined> =>
  db.first('select balance from credit_balances where workspace_id = $1 for update', [workspaceId])

/** What messages of a workspace were debited and have not had back. Run with the balance locked. */
export const unrefunded = (
  db: Db,
  workspaceId: string,
  messageIds: readonly string[],
): Promise<{ message_id: string; amount: number }[]> =>
  db.rows(
    `select message_id, -amount as amount from credit_entries d
     where workspace_id = $1 and kind = 'debit' and message_id = any($2::uuid[]) and not exists (
       select 1 from credit_entries r where r.message_id = d.message_id and r.kind = 'refund')
     order by message_id`,
    [workspaceId, messageIds],
  )

export const entriesOf = (db: Db, workspaceId: string, take: number): Promise<EntryRow[]> =>
  db.rows(
    `select id, kind, amount, balance_after, message_id, note, created_at from credit_entries
     where workspace_id = $1 order by created_at desc, id desc limit $2`,
    [workspaceId, take],
  )

/** What was paid for a message and given back. */
export const entriesOfMessage = (db: Db, workspaceId: string, messageId: string): Promise<EntryRow[]> =>
  db.rows(
    `select id, kind, amount, balance_after, message_id, note, created_at from credit_entries
     where workspace_id = $1 and message_id = $2 order by created_at, id`,
    [workspaceId, messageId],
  )

export interface Disagreement {
  workspace_id: string
  balance: number
  entered: number
}

/** Balances that are not the sum of their entries. One statement, so it sees one moment. */
export const disagreements = (db: Db): Promise<Disagreement[]> =>
  db.rows(
    `select coalesce(b.workspace_id, e.workspace_id) as workspace_id, coalesce(b.balance, 0) as balance,
       coalesce(e.entered, 0)::bigint as entered
     from credit_balances b
     full join (select workspace_id, sum(amount) as entered from credit_entries group by 1) e
       on e.workspace_id = b.workspace_id
     where coalesce(b.balance, 0) <> coalesce(e.entered, 0) order by 1`,
  )

export const priceRows = (db: Db): Promise<{ item: string; credits: number }[]> =>
  db.rows('select item, credits from prices order by item')

export const upsertPrice = (db: Db, item: string, credits: number): Promise<number> =>
  db.change(
    `insert into prices (item, credits) values ($1, $2) on conflict (item) do update set credits = excluded.credits`,
    [item, credits],
  )
