import type { Db } from '../../db/db.ts'
import { dropChallenges } from './challenges.ts'
import { removePasskeys } from './passkeys.ts'
import { setPassword } from './people.sql.ts'
import { lockPerson } from './people.ts'
import { endSessions } from './sessions.ts'
import { endTotp } from './two-factor.ts'

/**
 * Gives an account back to its owner. Somebody else may have got in and left a way back: a passkey of theirs, an open
 * session, a sign-in that waits for its second step. All of that ends; the password is the caller's to change.
 *
 * What is under way meanwhile must not outlive it. Recovery locks the person's row before it removes anything; signing in
 * and adding a passkey lock it too (`holdPerson`), and check once more what they relied on when they have the lock.
 */
export interface Recovered {
  passkeysRemoved: number
  sessionsEnded: number
}

/** Inside of a transaction. */
export async function endAccess(db: Db, personId: string): Promise<Recovered> {
  await lockPerson(db, personId)
  await dropChallenges(db, personId)
  const passkeysRemoved = await removePasskeys(db, personId)
  return { passkeysRemoved, sessionsEnded: await endSessions(db, personId) }
}

/**
 * The same, and without an authenticator app and backup codes, for a person who lost them. Without them the password alone
 * would sign in, also somebody who stole it, so it stops working too: only a reset link opens the account. Inside of a transaction.
 */
export async function removeSecondFactor(db: Db, personId: string): Promise<Recovered> {
  const recovered = await endAccess(db, personId)
  await endTotp(db, personId)
  await setPassword(db, personId, null)
  return recovered
}
