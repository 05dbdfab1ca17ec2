import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { sha256 } from '../../lib/hash.ts'
import { refuse } from '../../lib/refuse.ts'
import { addFailure, deleteOldTries, forgetFailures, lock, triesOf } from './tries.sql.ts'

/** Wrong passwords and codes count together; after five in a row nobody gets in for a while, and longer each time. */
const allowed = 5
const firstLockMs = 60_000
const longestLockMs = 3_600_000
const forgetMs = 24 * 3_600_000

const subjectOf = (email: string): Buffer => sha256(`sign-in ${email}`)

/** Refuses while an address is locked. An address that nobody has is locked just as well. */
export async function requireUnlocked(db: Db, clock: Clock, email: string): Promise<void> {
  const row = await triesOf(db, subjectOf(email))
  const waitMs = (row?.locked_until?.getTime() ?? 0) - clock.now().getTime()
  if (waitMs <= 0) return
  const seconds = Math.ceil(waitMs / 1000)
  refuse('too_many_tries', {
    message: `Too many wrong tries in a row. Try again in ${seconds < 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`}.`,
    details: { retry_after: seconds },
    headers: { 'Retry-After': String(seconds) },
  })
}

/** Counts a wrong try, whatever it was of, and refuses it. */
export async function refuseTry(db: Db, clock: Clock, email: string, message?: string): Promise<never> {
  const now = clock.now().getTime()
  const failures = await addFailure(db, subjectOf(email), clock.now(), new Date(now - forgetMs))
  if (failures >= allowed) {
    const lockMs = Math.min(longestLockMs, firstLockMs * 2 ** (failures - allowed))
    await lock(db, subjectOf(email), new Date(now + lockMs))
  }
  return refuse('wrong_credentials', message ? { message } : {})
}

export async function clearTries(db: Db, email: string): Promise<void> {
  await forgetFailures(db, subjectOf(email))
}

export async function sweepTries(db: Db, clock: Clock): Promise<void> {
  await deleteOldTries(db, new Date(clock.now().getTime() - forgetMs))
}
