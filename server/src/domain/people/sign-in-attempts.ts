import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { sha256 } from '../../lib/hash.ts'
import { refuse } from '../../lib/refuse.ts'
import { addAttempt, attemptsFor, clearFailures, deleteAttemptsBefore, removeAttempt } from './sign-in-attempts.sql.ts'

/** Wrong passwords and codes count together. Five in a row lock the account for a while, longer each time. */
const allowed = 5
const locksMs = [1, 2, 4, 8, 16, 32, 60].map((minutes) => minutes * 60_000)
const forgetMs = 24 * 3_600_000

const subjectOf = (email: string): Buffer => sha256(`sign-in ${email}`)

export interface SignInAttempt {
  email: string
  lockedUntil: Date | null
}

/**
 * Counts an attempt before anything is checked, so that concurrent requests cannot get more attempts than allowed. Fails
 * while the email address is locked. Unknown addresses are locked in the same way.
 */
export async function reserveAttempt(db: Db, clock: Clock, email: string): Promise<SignInAttempt> {
  const now = clock.now()
  const counted = await addAttempt(db, subjectOf(email), now, {
    forgetBefore: new Date(now.getTime() - forgetMs),
    allowed,
    locks: locksMs.map((ms) => new Date(now.getTime() + ms)),
  })
  if (counted) return { email, lockedUntil: counted.locked_until }
  const until = (await attemptsFor(db, subjectOf(email)))?.locked_until ?? now
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000))
  return refuse('too_many_tries', {
    message: `Too many failed attempts. Try again in ${seconds < 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`}.`,
    details: { retry_after: seconds },
    headers: { 'Retry-After': String(seconds) },
  })
}

/** Takes back an attempt that was not wrong. Earlier ones still count. */
export async function releaseAttempt(db: Db, { email, lockedUntil }: SignInAttempt): Promise<void> {
  await removeAttempt(db, subjectOf(email), lockedUntil)
}

export async function clearAttempts(db: Db, email: string): Promise<void> {
  await clearFailures(db, subjectOf(email))
}

export async function deleteOldSignInAttempts(db: Db, now: Date): Promise<void> {
  await deleteAttemptsBefore(db, new Date(now.getTime() - forgetMs))
}
