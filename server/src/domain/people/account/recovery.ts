import type { Db } from '../../../db/db.ts'
import { setPassword } from '../people.sql.ts'
import { lockPerson } from '../people.ts'
import { deleteChallenges } from '../sign-in/challenges.ts'
import { removePasskeys } from '../sign-in/passkeys.ts'
import { endSessions } from '../sign-in/sessions.ts'
import { endTotp } from '../sign-in/two-factor.ts'

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
 * enough, even for an attacker who knows it, so it is removed too: the only way in is a reset link. Call it in a transaction.
 */
export async function removeSecondFactor(db: Db, personId: string): Promise<Recovered> {
  const recovered = await endAccess(db, personId)
  await endTotp(db, personId)
  await setPassword(db, personId, null)
  return recovered
}
