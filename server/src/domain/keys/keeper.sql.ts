import type { Db } from '../../db/db.ts'
import type { Session } from '../../db/session.ts'
import type { Window } from './windows.ts'

/** What one look tells a process that is alone. */
export interface Look {
  revision: number
  keeper: string | null
  /** Nobody is about to change what decides about requests. */
  isCalm: boolean
}

/** On the keeper's own session. */
export async function lookAtRevision(session: Session): Promise<Look> {
  const row = await session.ask('revision', 'select revision, its_keeper, is_calm from look_at_revision()')
  return { revision: Number(row?.[0] ?? 0), keeper: row?.[1] ?? null, isCalm: row?.[2] === 't' }
}

/** Whoever was the keeper may hold a lease, and has none any more when this is done. */
export const setKeeper = (db: Db, keeper: string | null): Promise<number> =>
  db.transaction(async (tx) => {
    await tx.rows('select outwait_leases()')
    return tx.change('update access_revision set keeper = $1', [keeper])
  })

/** Whoever keeps the budgets, if it is this one, keeps them no more. */
export const clearKeeper = (db: Db, keeper: string): Promise<number> =>
  db.change('update access_revision set keeper = null where keeper = $1', [keeper])

/** The windows that are not over, with the time of this process. */
export async function loadWindows(db: Db, now: Date, pinned: Date | null): Promise<Window[]> {
  const rows = await db.rows<{ subject: string; ageMs: number; used: number }>(
    `select subject, used, (extract(epoch from n.now - opened_at) * 1000)::int as "ageMs"
     from budget_windows, (select coalesce($1::timestamptz, clock_timestamp()) as now) n
     where opened_at > n.now - interval '60 seconds'`,
    [pinned],
  )
  return rows.map(({ subject, ageMs, used }) => ({ subject, used, loaded: used, openedMs: now.getTime() - ageMs }))
}

/**
 * Ages, not times: the clocks of a process and of the database need not agree. A window that others have charged
 * meanwhile, because we were taken for dead, gets ours on top.
 */
export const saveWindows = (db: Db, windows: readonly Window[], now: Date, pinned: Date | null): Promise<number> =>
  db.change(
    `insert into budget_windows as b (subject, opened_at, used, budget, granted)
     select w.subject, n.now - w.age_ms * interval '1 millisecond', w.used, w.used, w.fresh
     from unnest($1::text[], $2::int[], $3::int[], $4::int[]) as w(subject, age_ms, used, fresh),
       (select coalesce($5::timestamptz, clock_timestamp()) as now) n
     order by w.subject
     on conflict (subject) do update set
       opened_at = case when ${isCurrent} then b.opened_at else excluded.opened_at end,
       used = case when ${isCurrent} then b.used + excluded.granted else excluded.used end,
       budget = excluded.budget,
       granted = 0`,
    [
      windows.map((window) => window.subject),
      windows.map((window) => Math.max(0, now.getTime() - window.openedMs)),
      windows.map((window) => window.used),
      windows.map((window) => window.used - window.loaded),
      pinned,
    ],
  )

const isCurrent = `b.opened_at > excluded.opened_at - interval '60 seconds'`
