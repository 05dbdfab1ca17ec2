import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Client } from '../../../sharing/fair-queue.ts'
import { lockPerson, type Person } from '../people.ts'
import { type Browser, endSessions, openSession, requireSession } from '../sign-in/sessions.ts'
import { newPassword } from './new-password.ts'

/** Sets a new password and returns the token of a new session. Call it in a transaction. */
export async function changePassword(
  db: Db,
  clock: Clock,
  person: Person,
  sessionId: string,
  next: string,
  browser: Browser & { client: Client },
): Promise<string> {
  await lockPerson(db, person.id)
  await requireSession(db, person.id, sessionId)
  await newPassword(db, clock, person, next, browser.client)
  return openSession(db, clock, person.id, browser)
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
