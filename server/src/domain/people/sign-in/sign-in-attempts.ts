import type { Db } from '../../../db/db.ts'
import { inBatches } from '../../../db/in-batches.ts'
import type { Clock } from '../../../lib/clock.ts'
import { sha256 } from '../../../lib/hash.ts'
import { refuseUntil } from '../../../lib/refuse.ts'
import { CountedWindows } from '../../../sharing/counted-windows.ts'
import {
  accountTriesOf,
  addAccountTry,
  addAttempt,
  attemptsFor,
  clearFailures,
  deleteAccountTriesBefore,
  deleteAttemptsBefore,
  removeAccountTry,
  removeAttempt,
} from './sign-in-attempts.sql.ts'

/** Wrong passwords and codes count together. Five in a row lock the client that made them for a while, longer each time. */
const allowed = 5
const locksMs = [1, 2, 4, 8, 16, 32, 60].map((minutes) => minutes * 60_000)
const forgetMs = 24 * 3_600_000

/**
 * How many attempts an account gets from all client addresses together, which bounds an attack from many of them: fewer
 * than 500 guesses a day. A window ends by itself, so an attacker has to make all of them again to keep it full. Browsers
 * that signed in before are not affected.
 */
const accountMax = 20
const accountWindowMs = 3_600_000

/**
 * An address gets five attempts for each of 16 groups of email addresses. So it can store 16 rows, however many email
 * addresses it tries, and the rows do not depend on which of them have an account.
 */
const groupsPerAddress = 16

/** Who attempts. Each is counted and locked separately. */
export type TriedFrom =
  | { kind: 'session'; sessionId: string }
  | { kind: 'known browser'; browserId: string }
  /** A client address, in the form of `addressBlock`. `strangers` counts email addresses without an account. */
  | { kind: 'address'; block: string; strangers: StrangerTries }

export interface Account {
  email: string
  /** Null if no account has this email address. */
  personId: string | null
}

export interface SignInAttempt {
  subject: Buffer
  /** The lock of the subject that this attempt causes if it is wrong. */
  subjectLock: Date | null
  /** The account whose window counts it too. */
  countedFor: string | null
  /** Until when this attempt locks the subject or the account if it is wrong. */
  lockedUntil: Date | null
}

/**
 * Attempts by email addresses without an account: limited as those of accounts, so that the response does not reveal which
 * ones exist, but only in memory.
 */
export type StrangerTries = CountedWindows
export const newStrangerTries = (): StrangerTries =>
  new CountedWindows({ max: accountMax, windowMs: accountWindowMs, maxKeys: 10_000 })

/**
 * Counts an attempt before anything is checked, so that concurrent requests cannot get more attempts than allowed. Fails
 * while they are locked. Nothing is stored then.
 */
export async function reserveAttempt(db: Db, clock: Clock, account: Account, from: TriedFrom): Promise<SignInAttempt> {
  const now = clock.now()
  const subject = subjectOf(account, from)
  const counted = await addAttempt(db, subject, now, {
    forgetBefore: new Date(now.getTime() - forgetMs),
    allowed,
    locks: locksMs.map((ms) => new Date(now.getTime() + ms)),
  })
  if (!counted) return refuseUntil(now, (await attemptsFor(db, subject))?.locked_until ?? now, tooMany)
  const subjectLock = counted.locked_until
  const attempt = { subject, subjectLock, countedFor: null, lockedUntil: subjectLock }
  if (from.kind !== 'address') return attempt
  const window = await countForAccount(db, now, account, from.strangers)
  if (window.isFull) {
    await releaseAttempt(db, attempt)
    return refuseUntil(now, window.endsAt, tooMany)
  }
  const lockedUntil = window.count < accountMax ? subjectLock : window.endsAt
  return { subject, subjectLock, countedFor: account.personId, lockedUntil }
}

async function countForAccount(db: Db, now: Date, { email, personId }: Account, strangers: StrangerTries) {
  if (personId === null) return strangers.count(sha256(email).toString('base64'), now)
  const openedAfter = new Date(now.getTime() - accountWindowMs)
  const counted = await addAccountTry(db, personId, now, { openedAfter, max: accountMax })
  const { failures: count, opened_at } = counted ??
    (await accountTriesOf(db, personId)) ?? { failures: accountMax, opened_at: now }
  return { count, endsAt: new Date(opened_at.getTime() + accountWindowMs), isFull: !counted }
}

function subjectOf({ email, personId }: Account, from: TriedFrom): Buffer {
  if (from.kind === 'session') return sha256(`session ${from.sessionId}`)
  if (from.kind === 'known browser') return sha256(`known browser ${from.browserId} ${personId}`)
  const group = (sha256(email)[0] as number) % groupsPerAddress
  return sha256(`address ${from.block} ${group}`)
}

const tooMany = 'Too many failed attempts'

/** Takes back an attempt that was not wrong. Earlier ones still count. */
export async function releaseAttempt(db: Db, { subject, countedFor, subjectLock }: SignInAttempt): Promise<void> {
  await removeAttempt(db, subject, subjectLock)
  if (countedFor !== null) await removeAccountTry(db, countedFor)
}

/**
 * After a complete sign-in: forgets the failures of the client that made it. The failures of other clients still count
 * for the account. `attempt` completed the sign-in, if it was counted.
 */
export async function clearAttempts(
  db: Db,
  account: Account,
  from: TriedFrom,
  attempt: SignInAttempt | null,
): Promise<void> {
  await clearFailures(db, subjectOf(account, from))
  if (attempt?.countedFor) await removeAccountTry(db, attempt.countedFor)
}

export async function deleteOldSignInAttempts(db: Db, now: Date): Promise<void> {
  await inBatches((limit) => deleteAttemptsBefore(db, new Date(now.getTime() - forgetMs), limit))
  await deleteAccountTriesBefore(db, new Date(now.getTime() - accountWindowMs))
}
