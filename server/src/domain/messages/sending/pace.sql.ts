/**
 * The parts of a statement that claims work of senders within their pace. `paced` has the senders that may send now, and
 * locks their pace. The statement's CTE `picked` takes at most `paceLeft` rows for each of them. `moved` records how many it took.
 */
import type { Db } from '../../../db/db.ts'
import type { Places } from '../../../db/statement.ts'

export const paceParameters = {
  quotas: { senderId: 'uuid', gapSeconds: 'float8', burst: 'int', maxCount: 'int' },
  now: 'timestamptz',
} as const

export const pacedSql = ({ quotas, now }: Places<typeof paceParameters>): string => `paced as materialized (
       select p.sender_id, a.gap, a.max_count, greatest(p.paced_until, ${now} - a.burst * a.gap) as base
       from ${quotas}
       cross join lateral (select quotas.gap_seconds * interval '1 second' as gap, quotas.burst, quotas.max_count) a
       join sender_paces p on p.sender_id = quotas.sender_id
       join senders s on s.id = quotas.sender_id
       where not exists (
         select from sending_holds h where h.subject_id in (s.id, s.connection_id, s.app_id) and h.until > ${now})
       for update of p skip locked
     )`

/** For a row `r` of `paced`. */
export const paceLeftSql = (now: string): string => `greatest(0, least(r.max_count,
           floor(extract(epoch from ${now} - r.base) / extract(epoch from r.gap) + 0.01)::int))`

export const movedSql = `moved as (
       update sender_paces p set paced_until = r.base + c.count * r.gap
       from paced r join (select sender_id, count(*) from picked group by 1) c on c.sender_id = r.sender_id
       where p.sender_id = r.sender_id
     )`

/** Until when a sender has used its pace. Null if it has not sent yet. */
export const pacedUntil = async (db: Db, senderId: string): Promise<Date | null> => {
  const sql = `select nullif(paced_until, '-infinity') as at from sender_paces where sender_id = $1`
  return (await db.first<{ at: Date | null }>(sql, [senderId]))?.at ?? null
}
