import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { newPassword } from './new-password.ts'
import type { Person } from './people.ts'
import { type Browser, endSessions, openSession } from './sessions.ts'

/** Sets a new password. Returns the token of a new session. */
export async function changePassword(
  db: Db,
  clock: Clock,
  person: Person,
  next: string,
  browser: Browser,
): Promise<string> {
  await newPassword(db, clock, person, next)
  return openSession(db, clock, person.id, browser)
}

/** Ends every session of a person, for whoever knew the old secret may be in one of them, and begins a new one. */
export async function startAnew(db: Db, clock: Clock, personId: string, browser: Browser): Promise<string> {
  await endSessions(db, personId)
  return openSession(db, clock, personId, browser)
}
