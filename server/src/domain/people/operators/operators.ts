import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { refuse } from '../../../lib/refuse.ts'
import { endResets } from '../links.sql.ts'
import { lockOperators, setPerson } from '../people.sql.ts'
import { lockPerson, type Person } from '../people.ts'
import { deleteChallenges } from '../sign-in/challenges.ts'
import { listPasskeys } from '../sign-in/passkeys.ts'
import { endSessions, endStreams } from '../sign-in/sessions.ts'

/**
 * Whether the person has to sign in with a passkey: it is their only second factor. An authenticator app is asked for after
 * the password, but a passkey is not.
 */
export const needsPasskey = async (db: Db, person: Person): Promise<boolean> =>
  person.totp_confirmed_at === null && (await listPasskeys(db, person.id)).length > 0

export async function makeOperator(db: Db, person: Person): Promise<void> {
  await setPerson(db, person.id, 'operator', true)
  // They may have signed in with the password alone.
  if (await needsPasskey(db, person)) await endSessions(db, person.id)
}

/** Call it in a transaction. */
export async function removeOperator(db: Db, id: string): Promise<void> {
  const person = await lockWithOperators(db, id)
  if (!person.operator) refuse('conflict', { message: `${person.email} is not an operator.` })
  await setPerson(db, id, 'operator', false)
  endStreams(db, id)
}

/**
 * Ends all access of a person immediately, in every process: sessions, live streams, pending sign-ins and reset links. What
 * they set up stays for when they are enabled again. Call it in a transaction.
 */
export async function disablePerson(db: Db, clock: Clock, id: string): Promise<{ sessionsEnded: number }> {
  const person = await lockWithOperators(db, id)
  if (person.disabled_at) refuse('conflict', { message: `${person.email} is already disabled.` })
  await setPerson(db, id, 'disabled_at', clock.now())
  await deleteChallenges(db, id)
  await endResets(db, id, clock.now())
  return { sessionsEnded: await endSessions(db, id) }
}

/** Call it in a transaction. */
export async function enablePerson(db: Db, id: string): Promise<void> {
  const person = await lockPerson(db, id)
  if (!person.disabled_at) refuse('conflict', { message: `${person.email} is not disabled.` })
  await setPerson(db, id, 'disabled_at', null)
}

/** Fails if this is the last operator who can sign in. Concurrent changes of operators wait for each other. */
async function lockWithOperators(db: Db, id: string): Promise<Person> {
  const operators = await lockOperators(db)
  if (operators.length === 1 && operators[0]?.id === id) {
    refuse('conflict', {
      message: `${operators[0].email} is the last operator. Make another user an operator first: ./parley user operator`,
    })
  }
  return lockPerson(db, id)
}
