import type { Db } from '../../db/db.ts'
import type { Window } from './windows.ts'

export async function readRevision(db: Db): Promise<{ revision: number; keeper: string | null }> {
  const row = await db.first<{ revision: number; keeper: string | null }>(
    'select value as revision, keeper from access_revision',
  )
  return row ?? { revision: 0, keeper: null }
}

export const setKeeper = (db: Db, keeper: string | null): Promise<number> =>
  db.change('update access_revision set keeper = $1', [keeper])

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
  return rows.map(({ subject, ageMs, used }) => ({ subject, used, openedMs: now.getTime() - ageMs }))
}

/** Ages, not times: the clocks of a process and of the database need not agree. */
export const saveWindows = (db: Db, windows: readonly Window[], now: Date, pinned: Date | null): Promise<number> =>
  db.change(
    `insert into budget_windows (subject, opened_at, used, budget, granted)
     select w.subject, n.now - w.age_ms * interval '1 millisecond', w.used, w.used, 0
     from unnest($1::text[], $2::int[], $3::int[]) as w(subject, age_ms, used),
       (select coalesce($4::timestamptz, clock_timestamp()) as now) n
     order by w.subject
     on conflict (subject) do update set
       opened_at = excluded.opened_at, used = excluded.used, budget = excluded.budget, granted = 0`,
    [
      windows.map((window) => window.subject),
      windows.map((window) => Math.max(0, now.getTime() - window.openedMs)),
      windows.map((window) => window.used),
      pinned,
    ],
  )
