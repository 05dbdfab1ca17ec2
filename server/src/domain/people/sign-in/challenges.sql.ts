import type { Db } from '../../../db/db.ts'
import { insertion } from '../../../db/statement.ts'

export interface ChallengeRow {
  /** `new_passkey`: for adding one. `passkey`: for signing in, or, with a person, for confirming. */
  kind: 'second_factor' | 'passkey' | 'new_passkey'
  person_id: string | null
  /** Of a passkey. */
  challenge: string | null
  /** The link that is used once the second factor is correct. */
  link_id: string | null
}

export const insertChallenge = insertion('challenges', {
  digest: 'bytea',
  kind: 'text',
  person_id: 'uuid',
  challenge: 'text',
  link_id: 'uuid',
  created_at: 'timestamptz',
  expires_at: 'timestamptz',
})

export const challengeBy = (db: Db, digest: Buffer, kind: string, now: Date): Promise<ChallengeRow | undefined> =>
  db.first(
    'select kind, person_id, challenge, link_id from challenges where digest = $1 and kind = $2 and expires_at > $3',
    [digest, kind, now],
  )

/** True if this call deleted it: of concurrent calls, only one gets true. */
export const deleteChallenge = async (db: Db, digest: Buffer): Promise<boolean> =>
  (await db.change('delete from challenges where digest = $1', [digest])) === 1

/** Cancels sign-ins that wait for a second factor and passkeys that are being added. */
export const deleteChallenges = (db: Db, personId: string): Promise<number> =>
  db.change('delete from challenges where person_id = $1', [personId])

export const deleteExpiredChallenges = (db: Db, now: Date): Promise<number> =>
  db.change('delete from challenges where expires_at < $1', [now])
