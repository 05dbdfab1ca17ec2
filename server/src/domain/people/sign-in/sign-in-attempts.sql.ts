import type { Db } from '../../../db/db.ts'

export interface SignInAttemptsRow {
  failures: number
  locked_until: Date | null
}

export const attemptsFor = (db: Db, subject: Buffer): Promise<SignInAttemptsRow | undefined> =>
  db.first('select failures, locked_until from sign_in_tries where subject = $1', [subject])

export interface LockoutRules {
  /** Attempts before this time no longer count. */
  forgetBefore: Date
  /** From this number on, each further failure locks until the next time in `locks`; the last entry repeats. */
  allowed: number
  locks: readonly Date[]
}

/** Counts one attempt and locks if needed, in one statement. Returns nothing while it is locked. */
export const addAttempt = (db: Db, subject: Buffer, at: Date, { forgetBefore, allowed, locks }: LockoutRules) =>
  db.first<SignInAttemptsRow>(
    `insert into sign_in_tries as tries (subject, failures, last_at) values ($1, 1, $2)
     on conflict (subject) do update set (failures, last_at, locked_until) = (
       select count, $2, case when count >= $4::int then ($5::timestamptz[])[least(count - $4 + 1, cardinality($5))] end
       from (select case when tries.last_at < $3 then 1 else tries.failures + 1 end as count) as now)
     where tries.locked_until is null or tries.locked_until <= $2
     returning failures, locked_until`,
    [subject, at, forgetBefore, allowed, locks],
  )

/** Takes one attempt back, with the lock it caused, unless another attempt has changed the lock since. */
export async function removeAttempt(db: Db, subject: Buffer, lockedUntil: Date | null): Promise<void> {
  await db.change(
    `update sign_in_tries set failures = greatest(failures - 1, 0),
       locked_until = nullif(locked_until, $2::timestamptz) where subject = $1`,
    [subject, lockedUntil],
  )
  await db.change('delete from sign_in_tries where subject = $1 and failures = 0', [subject])
}

export const clearFailures = (db: Db, subject: Buffer): Promise<number> =>
  db.change('delete from sign_in_tries where subject = $1', [subject])

/** Deletes at most `limit`. Locked rows are skipped and deleted next time. */
export const deleteAttemptsBefore = (db: Db, before: Date, limit: number): Promise<number> =>
  db.change(
    `delete from sign_in_tries where ctid = any(array(
       select ctid from sign_in_tries where last_at < $1 limit $2 for update skip locked))`,
    [before, limit],
  )

export interface AccountTriesRow {
  failures: number
  opened_at: Date
}

/** Counts one attempt of an account in its window, up to `max`. Returns nothing if the window is full. */
export const addAccountTry = (
  db: Db,
  personId: string,
  at: Date,
  { openedAfter, max }: { openedAfter: Date; max: number },
): Promise<AccountTriesRow | undefined> =>
  db.first(
    `insert into account_tries as tries (person_id, opened_at, failures) values ($1, $2, 1)
     on conflict (person_id) do update set
       opened_at = case when tries.opened_at <= $3 then $2 else tries.opened_at end,
       failures = case when tries.opened_at <= $3 then 1 else tries.failures + 1 end
     where tries.opened_at <= $3 or tries.failures < $4
     returning failures, opened_at`,
    [personId, at, openedAfter, max],
  )

export const accountTriesOf = (db: Db, personId: string): Promise<AccountTriesRow | undefined> =>
  db.first('select failures, opened_at from account_tries where person_id = $1', [personId])

export const removeAccountTry = (db: Db, personId: string): Promise<number> =>
  db.change('update account_tries set failures = greatest(failures - 1, 0) where person_id = $1', [personId])

export const deleteAccountTriesBefore = (db: Db, before: Date): Promise<number> =>
  db.change('delete from account_tries where opened_at < $1', [before])

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
