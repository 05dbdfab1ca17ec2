import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'

export interface WrongBalance {
  workspace_id: string
  balance: number
  entered: number
}

/** The balance of a workspace and the sums of its entries, from one snapshot. */
export interface SummedEntries {
  workspaceId: string
  balance: number
  /** The sum of all entries. */
  entered: number
  /** The sum of the entries before the new checkpoint. */
  checked: number
}

const sums = (
  checkpoint: string,
  entries: string,
): string => `(${checkpoint} + coalesce(sum(e.amount), 0))::bigint as entered,
         (${checkpoint} + coalesce(sum(e.amount) filter (where e.created_at < $2), 0))::bigint as checked
       from credit_entries e where ${entries}`

/**
 * The next workspaces with a balance, in the order of their IDs. It reads only entries since their checkpoints: the CTE is
 * materialized because with row-level security PostgreSQL uses no index for a comparison with `coalesce`.
 */
export const newEntriesOf = (db: Db, afterId: string, until: Date, limit: number): Promise<SummedEntries[]> =>
  db.rows(
    `with batch as materialized (
       select b.workspace_id, b.balance, coalesce(c.entered, 0) as entered,
         coalesce(c.checked_until, '-infinity') as checked_until
       from (select workspace_id, balance from credit_balances where workspace_id > $1
         order by workspace_id limit $3) as b
       left join credit_checks c on c.workspace_id = b.workspace_id
     )
     select b.workspace_id as "workspaceId", b.balance, s.entered, s.checked
     from batch b cross join lateral (
       select ${sums('b.entered', 'e.workspace_id = b.workspace_id and e.created_at >= b.checked_until')}) as s
     order by b.workspace_id`,
    [afterId, until, limit],
  )

/** Reads all entries of a workspace. */
export async function sumEntries(db: Db, workspaceId: string, until: Date): Promise<SummedEntries> {
  const row = await db.first<SummedEntries>(
    `select $1::uuid as "workspaceId", coalesce((select balance from credit_balances where workspace_id = $1), 0) as balance,
       ${sums('0', 'e.workspace_id = $1')}`,
    [workspaceId, until],
  )
  return row ?? { workspaceId, balance: 0, entered: 0, checked: 0 }
}

const saving = statement(
  { checks: { workspaceId: 'uuid', checked: 'text' }, until: 'timestamptz' },
  ({ checks, until }) => `insert into credit_checks (workspace_id, entered, checked_until)
     select checks.workspace_id, checks.checked::bigint, ${until} from ${checks} order by checks.workspace_id
     on conflict (workspace_id) do update set entered = excluded.entered, checked_until = excluded.checked_until`,
)

/** Saves checkpoints: the sums of the entries before a time. */
export const saveChecks = (db: Db, checks: readonly SummedEntries[], until: Date): Promise<number> =>
  saving.change(db, {
    checks: checks.map(({ workspaceId, checked }) => ({ workspaceId, checked: String(checked) })),
    until,
  })

/**
 * Makes the first checkpoints, with one pass over the whole ledger. Later ones read few entries through an index, which would
 * take ten times as long for all.
 */
export const saveFirstChecks = (db: Db, until: Date): Promise<number> =>
  db.change(
    `insert into credit_checks (workspace_id, checked_until, entered)
     select workspace_id, $1::timestamptz, sum(amount)::bigint from credit_entries
     where created_at < $1 and not exists (select from credit_checks) group by workspace_id on conflict do nothing`,
    [until],
  )

/** Balances that are not the sum of all their entries. One statement, so that it reads one snapshot. */
export const wrongBalances = (db: Db): Promise<WrongBalance[]> =>
  db.rows(
    `select coalesce(b.workspace_id, e.workspace_id) as workspace_id, coalesce(b.balance, 0) as balance,
       coalesce(e.entered, 0)::bigint as entered
     from credit_balances b
     full join (select workspace_id, sum(amount) as entered from credit_entries group by 1) e
       on e.workspace_id = b.workspace_id
     where coalesce(b.balance, 0) <> coalesce(e.entered, 0) order by 1`,
  )
