import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { endResets } from '../links.sql.ts'
import { setPerson } from '../people.sql.ts'
import { lockPerson } from '../people.ts'
import { deleteChallenges } from '../sign-in/challenges.ts'
import { removePasskeys } from '../sign-in/passkeys.ts'
import { type Browser, endSessions, openSession, requireSession } from '../sign-in/sessions.ts'
import { endTotp } from '../sign-in/two-factor.ts'

/** Sets a new password and returns the token of a new session. Call it in a transaction. */
export async function changePassword(
  db: Db,
  clock: Clock,
  personId: string,
  sessionId: string,
  passwordHash: string,
  browser: Browser,
): Promise<string> {
  await lockPerson(db, personId)
  await requireSession(db, personId, sessionId)
  await newPassword(db, clock, personId, passwordHash)
  return openSession(db, clock, personId, browser)
}

/**
 * Ends every session of a person and starts a new one: an attacker who knew the old secret may have one of them. Call it in
 * a transaction.
 */
export async function replaceSessions(
  db: Db,
  clock: Clock,
  personId: string,
  sessionId: string,
  browser: Browser,
): Promise<string> {
  await lockPerson(db, personId)
  await requireSession(db, personId, sessionId)
  await endSessions(db, personId)
  return openSession(db, clock, personId, browser)
}

/**
 * Sets a new password and ends every session, reset link and pending challenge that came from the old one. Call it in a
 * transaction.
 */
export async function newPassword(db: Db, clock: Clock, personId: string, passwordHash: string): Promise<void> {
  await lockPerson(db, personId)
  await setPerson(db, personId, 'password_hash', passwordHash)
  await endResets(db, personId, clock.now())
  await deleteChallenges(db, personId)
  await endSessions(db, personId)
}

/**
 * Account recovery. An attacker who got in may have left a way back: a passkey, an open session, or a sign-in that waits
 * for its second factor. Recovery ends all of these; changing the password is up to the caller.
 *
 * Concurrent requests must not survive a recovery. It locks the person's row exclusively before it removes anything.
 * Signing in and adding a passkey take a shared lock (`holdPerson`) and check their preconditions again once they have it.
 */
export interface Recovered {
  passkeysRemoved: number
  sessionsEnded: number
}

/** Call it in a transaction. */
export async function endAccess(db: Db, personId: string): Promise<Recovered> {
  await lockPerson(db, personId)
  await deleteChallenges(db, personId)
  const passkeysRemoved = await removePasskeys(db, personId)
  return { passkeysRemoved, sessionsEnded: await endSessions(db, personId) }
}

/**
 * Also removes the authenticator app and the backup codes, for a person who lost them. Then the password alone would be
 * enough, also for an attacker who knows it, so it is removed too: the only way in is a reset link. Call it in a transaction.
 */
export async function removeSecondFactor(db: Db, personId: string): Promise<Recovered> {
  const recovered = await endAccess(db, personId)
  await endTotp(db, personId)
  await setPerson(db, personId, 'password_hash', null)
  return recovered
}
