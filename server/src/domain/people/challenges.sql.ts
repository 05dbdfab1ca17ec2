import type { Db } from '../../db/db.ts'

export interface ChallengeRow {
  kind: 'second_factor' | 'passkey'
  person_id: string | null
  challenge: string | null
}

export const insertChallenge = (
  db: Db,
  row: ChallengeRow & { digest: Buffer; created_at: Date; expires_at: Date },
): Promise<number> =>
  db.change(
    `insert into challenges (digest, kind, person_id, challenge, created_at, expires_at) values ($1, $2, $3, $4, $5, $6)`,
    [row.digest, row.kind, row.person_id, row.challenge, row.created_at, row.expires_at],
  )

export const challengeBy = (db: Db, digest: Buffer, kind: string, now: Date): Promise<ChallengeRow | undefined> =>
  db.first('select kind, person_id, challenge from challenges where digest = $1 and kind = $2 and expires_at > $3', [
    digest,
    kind,
    now,
  ])

/** True for whoever comes first. */
export const takeChallenge = async (db: Db, digest: Buffer): Promise<boolean> =>
  (await db.change('delete from challenges where digest = $1', [digest])) === 1

export const deleteChallengesOf = (db: Db, personId: string): Promise<number> =>
  db.change('delete from challenges where person_id = $1', [personId])

export const deleteOldChallenges = (db: Db, now: Date): Promise<number> =>
  db.change('delete from challenges where expires_at < $1', [now])
