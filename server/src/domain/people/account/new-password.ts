import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Client } from '../../../sharing/fair-queue.ts'
import { endResets } from '../links.sql.ts'
import { checkPassword, hashPassword } from '../passwords.ts'
import { setPassword } from '../people.sql.ts'
import { lockPerson, type Person } from '../people.ts'
import { deleteChallenges } from '../sign-in/challenges.ts'
import { endSessions } from '../sign-in/sessions.ts'

/**
 * Sets a new password and ends every session, reset link and pending challenge that came from the old one. Call it in a
 * transaction.
 */
export async function newPassword(db: Db, clock: Clock, person: Person, next: string, client: Client): Promise<void> {
  checkPassword(next, person)
  const hash = await hashPassword(next, client)
  await lockPerson(db, person.id)
  await setPassword(db, person.id, hash)
  await endResets(db, person.id, clock.now())
  await deleteChallenges(db, person.id)
  await endSessions(db, person.id)
}
