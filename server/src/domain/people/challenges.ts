import { randomBytes } from 'node:crypto'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { sha256 } from '../../lib/hash.ts'
import {
  type ChallengeRow,
  challengeBy,
  deleteChallengesOf,
  deleteOldChallenges,
  insertChallenge,
  takeChallenge,
} from './challenges.sql.ts'

const lifeMs = 10 * 60_000

/** Something a browser has to come back with. It holds the token; we hold what it stands for. */
export async function setChallenge(db: Db, clock: Clock, row: ChallengeRow): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const at = clock.now()
  await insertChallenge(db, {
    ...row,
    digest: sha256(token),
    created_at: at,
    expires_at: new Date(at.getTime() + lifeMs),
  })
  return token
}

export async function findChallenge(
  db: Db,
  clock: Clock,
  kind: ChallengeRow['kind'],
  token: string | undefined,
): Promise<ChallengeRow | undefined> {
  return token === undefined ? undefined : challengeBy(db, sha256(token), kind, clock.now())
}

/** Uses it up; false if somebody else did first. */
export const useChallenge = (db: Db, token: string): Promise<boolean> => takeChallenge(db, sha256(token))

/** Whoever has shown a password and not yet a second factor, or is adding a passkey, begins anew. */
export async function dropChallenges(db: Db, personId: string): Promise<void> {
  await deleteChallengesOf(db, personId)
}

export async function deleteExpiredChallenges(db: Db, now: Date): Promise<void> {
  await deleteOldChallenges(db, now)
}
