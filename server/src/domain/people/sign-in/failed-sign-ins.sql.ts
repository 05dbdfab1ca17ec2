import type { Db } from '../../../db/db.ts'

/** Counts a failure and returns how many there were since the first of the hour. */
export const countFailure = async (db: Db, personId: string, at: Date): Promise<number> => {
  const row = await db.first<{ failures: number }>(
    `insert into failed_sign_ins as f (person_id, began_at, failures) values ($1, $2, 1)
     on conflict (person_id) do update set failures = f.failures + 1
     returning failures`,
    [personId, at],
  )
  return row?.failures ?? 1
}

export interface CountedFailures {
  personId: string
  email: string
  beganAt: Date
  failures: number
}

/** Deletes and returns the counts that began by a time, of one person or of all. */
export const takeCounts = (db: Db, beganBy: Date, personId: string | null): Promise<CountedFailures[]> =>
  db.rows(
    `delete from failed_sign_ins f using people p
     where p.id = f.person_id and f.began_at <= $1 and ($2::uuid is null or f.person_id = $2)
     returning f.person_id as "personId", p.email, f.began_at as "beganAt", f.failures`,
    [beganBy, personId],
  )
