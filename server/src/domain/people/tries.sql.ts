import type { Db } from '../../db/db.ts'

export interface TriesRow {
  failures: number
  last_at: Date
  locked_until: Date | null
}

export const triesOf = (db: Db, subject: Buffer): Promise<TriesRow | undefined> =>
  db.first('select failures, last_at, locked_until from sign_in_tries where subject = $1', [subject])

/** One more failure; those before `forgetBefore` no longer count. Returns how many there are now. */
export const addFailure = async (db: Db, subject: Buffer, at: Date, forgetBefore: Date): Promise<number> =>
  (
    await db.first<{ failures: number }>(
      `insert into sign_in_tries (subject, failures, last_at) values ($1, 1, $2)
       on conflict (subject) do update set last_at = $2, locked_until = null,
         failures = case when sign_in_tries.last_at < $3 then 1 else sign_in_tries.failures + 1 end
       returning failures`,
      [subject, at, forgetBefore],
    )
  )?.failures ?? 0

export const lock = (db: Db, subject: Buffer, until: Date): Promise<number> =>
  db.change('update sign_in_tries set locked_until = $2 where subject = $1', [subject, until])

export const forgetFailures = (db: Db, subject: Buffer): Promise<number> =>
  db.change('delete from sign_in_tries where subject = $1', [subject])

export const deleteOldTries = (db: Db, before: Date): Promise<number> =>
  db.change('delete from sign_in_tries where last_at < $1', [before])
