import type { Scope } from '@parley/contract/scopes'
import { byteStrings } from '../../db/array-format.ts'
import type { Db } from '../../db/db.ts'

/** What decides whether a key's request is let in. */
export interface AccessRow {
  /** As `digestOf` has it. */
  digest: string
  key_id: string
  key_name: string
  workspace_id: string
  scopes: Scope[]
  budget: number
  allowed_ranges: string[]
  expires_at: Date | null
  revoked_at: Date | null
  suspended_at: Date | null
}

/** The keys with these digests, and the revision at which they were read. Digests of no key are simply not in it. */
export async function readAccess(db: Db, digests: readonly string[]): Promise<{ revision: number; rows: AccessRow[] }> {
  const rows = await db.rows<{ revision: number } & Omit<AccessRow, 'digest'> & { digest: Buffer | null }>(
    `select r.value as revision, k.digest, k.id as key_id, k.name as key_name, k.workspace_id,
       k.scopes, k.budget, k.allowed_ranges, k.expires_at, k.revoked_at, w.suspended_at
     from access_revision r
     left join (api_keys k join workspaces w on w.id = k.workspace_id)
       on k.digest = any($1::bytea[])`,
    [byteStrings(digests.map((digest) => Buffer.from(digest, 'latin1')))],
  )
  const found = rows.flatMap((row) => (row.digest ? [{ ...row, digest: row.digest.toString('latin1') }] : []))
  return { revision: rows[0]?.revision ?? 0, rows: found }
}

export interface Charge {
  subject: string
  amount: number
  budget: number
  /** Said by whoever charges: how many of the amount fitted into the budget, what is used of its window now, and its rest. */
  granted: number
  used: number
  msLeft: number
}

/**
 * Takes each amount from its budget as far as it goes, in one statement for any number of subjects, and only if the
 * access revision is still the one given: a decision made on an outdated copy charges nobody. Subjects are taken in
 * order, so that two processes with the same ones never wait for each other in a circle. Says which revision it is.
 */
export async function chargeBudgets(
  db: Db,
  revision: number,
  charges: ReadonlyMap<string, Charge>,
  now: Date | null,
): Promise<number> {
  const all = [...charges.values()]
  const rows = await db.rows<
    { revision: number } & (Pick<Charge, 'granted' | 'used' | 'msLeft'> & { subject: string | null })
  >(
    `with revision as materialized (select value from access_revision),
     moment as materialized (select coalesce($5::timestamptz, clock_timestamp()) as now),
     charged as (
       insert into budget_windows as b (subject, opened_at, used, budget, granted)
       select w.subject, m.now, least(w.amount, w.budget), w.budget, least(w.amount, w.budget)
       from unnest($1::text[], $2::int[], $3::int[]) as w(subject, amount, budget), revision r, moment m
       where r.value = $4
       order by w.subject
       on conflict (subject) do update set
         opened_at = case when ${isOver} then excluded.opened_at else b.opened_at end,
         used = case when ${isOver} then excluded.used
           else greatest(b.used, least(b.used + excluded.used, excluded.budget)) end,
         granted = case when ${isOver} then excluded.granted
           else greatest(0, least(excluded.used, excluded.budget - b.used)) end,
         budget = excluded.budget
       returning subject, granted, used, opened_at
     )
     select r.value as revision, c.subject, c.granted, c.used,
       (extract(epoch from c.opened_at - m.now) * 1000 + 60000)::int as "msLeft"
     from revision r cross join moment m left join charged c on true`,
    [
      all.map((charge) => charge.subject),
      all.map((charge) => charge.amount),
      all.map((charge) => charge.budget),
      revision,
      now,
    ],
  )
  for (const { subject, granted, used, msLeft } of rows) {
    const charge = charges.get(subject ?? '')
    if (charge) Object.assign(charge, { granted, used, msLeft })
  }
  return rows[0]?.revision ?? 0
}

const isOver = `b.opened_at <= excluded.opened_at - interval '60 seconds'`

/** Windows that have been over for a while; rows in use at this moment are left for the next time. */
export const sweepWindows = (db: Db, now: Date | null): Promise<number> =>
  db.change(
    `delete from budget_windows where ctid = any(array(
       select ctid from budget_windows
       where opened_at < coalesce($1::timestamptz, clock_timestamp()) - interval '5 minutes'
       limit 50000 for update skip locked))`,
    [now],
  )
