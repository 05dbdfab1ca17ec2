import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { sha256 } from '../../lib/hash.ts'
import { refuse } from '../../lib/refuse.ts'
import { addAttempt, attemptsFor, clearFailures, deleteAttemptsBefore, removeAttempt } from './sign-in-attempts.sql.ts'

/** Wrong passwords and codes count together; after five in a row nobody gets in for a while, and longer each time. */
const allowed = 5
const locksMs = [1, 2, 4, 8, 16, 32, 60].map((minutes) => minutes * 60_000)
const forgetMs = 24 * 3_600_000

const subjectOf = (email: string): Buffer => sha256(`sign-in ${email}`)

export interface SignInAttempt {
  email: string
  lockedUntil: Date | null
}

/**
 * Takes one of the few tries, before anything is checked: of many that come at once no more than these are looked at.
 * Refuses while an address is locked. One that nobody has is locked just as well.
 */
export async function takeAttempt(db: Db, clock: Clock, email: string): Promise<SignInAttempt> {
  const now = clock.now()
  const taken = await addAttempt(db, subjectOf(email), now, {
    forgetBefore: new Date(now.getTime() - forgetMs),
    allowed,
    locks: locksMs.map((ms) => new Date(now.getTime() + ms)),
  })
  if (taken) return { email, lockedUntil: taken.locked_until }
  const until = (await attemptsFor(db, subjectOf(email)))?.locked_until ?? now
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000))
  return refuse('too_many_tries', {
    message: `Too many wrong tries in a row. Try again in ${seconds < 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`}.`,
    details: { retry_after: seconds },
    headers: { 'Retry-After': String(seconds) },
  })
}

/** This one was not wrong. Those before it still count. */
export async function returnAttempt(db: Db, { email, lockedUntil }: SignInAttempt): Promise<void> {
  await removeAttempt(db, subjectOf(email), lockedUntil)
}

export async function clearAttempts(db: Db, email: string): Promise<void> {
  await clearFailures(db, subjectOf(email))
}

export async function deleteOldSignInAttempts(db: Db, now: Date): Promise<void> {
  await deleteAttemptsBefore(db, new Date(now.getTime() - forgetMs))
}
