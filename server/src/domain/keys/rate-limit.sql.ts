import type { Db } from '../../db/db.ts'
import { inBatches } from '../../db/in-batches.ts'

/** The requests of one batch that count against the same limit. */
export interface Charge {
  /** A key (`k:`) or an IP address (`a:`). */
  subject: string
  amount: number
  limit: number
  /** Set by `chargeRateLimits`: requests within the limit, requests used in this window, and the time left in it. */
  granted: number
  used: number
  msLeft: number
}

/**
 * Counts each amount against its limit, up to the limit, but only if the access revision is still the one given. Returns
 * the current revision. A window opens with the first request and lasts 60 seconds by the clock of the database, so all
 * processes share it. Subjects are locked in order, so two processes that count the same ones cannot deadlock.
 */
export async function chargeRateLimits(
  db: Db,
  revision: number,
  charges: ReadonlyMap<string, Charge>,
  pinned: Date | null,
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
      all.map((charge) => charge.limit),
      revision,
      pinned,
    ],
  )
  for (const { subject, granted, used, msLeft } of rows) {
    const charge = charges.get(subject ?? '')
    if (charge) Object.assign(charge, { granted, used, msLeft })
  }
  return rows[0]?.revision ?? 0
}

/** A window that opens in the future was created before the clock of the database was set back. */
const isOver = `(b.opened_at <= excluded.opened_at - interval '60 seconds'
  or b.opened_at > excluded.opened_at + interval '60 seconds')`

/** Deletes windows that ended a while ago. Locked rows are skipped and deleted next time. */
export const deleteOldWindows = (db: Db, pinned: Date | null): Promise<number> =>
  inBatches(
    (limit) =>
      db.change(
        `delete from budget_windows where ctid = any(array(
           select ctid from budget_windows
           where opened_at < coalesce($1::timestamptz, clock_timestamp()) - interval '5 minutes'
           limit $2 for update skip locked))`,
        [pinned, limit],
      ),
    50_000,
  )
