import { randomBytes } from 'node:crypto'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { sha256 } from '../../../lib/hash.ts'
import { type ChallengeRow, challengeBy, deleteChallenge, insertChallenge } from './challenges.sql.ts'

export { deleteChallenges, deleteExpiredChallenges } from './challenges.sql.ts'

const lifetimeMs = 10 * 60_000

/** Starts a step of signing in or of adding a passkey. The browser gets the token and has to send it back. */
export async function createChallenge(
  db: Db,
  clock: Clock,
  row: Pick<ChallengeRow, 'kind' | 'person_id'> & Partial<ChallengeRow>,
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const at = clock.now()
  const times = { created_at: at, expires_at: new Date(at.getTime() + lifetimeMs) }
  await insertChallenge(db, { challenge: null, link_id: null, ...row, digest: sha256(token), ...times })
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

/** Returns false if another request has used it already. */
export const consumeChallenge = (db: Db, token: string): Promise<boolean> => deleteChallenge(db, sha256(token))
