import { databaseNow } from '../../../db/database-clock.ts'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { deleteExpiredChallenges } from './challenges.ts'
import { recordCounted } from './failed-sign-ins.ts'
import { deleteExpiredSessions } from './sessions.ts'
import { deleteOldSignInAttempts } from './sign-in-attempts.ts'

/** Deletes expired sessions, challenges and sign-in attempts, and records failed sign-ins that were only counted. */
export async function deleteExpiredPeopleData(db: Db, clock: Clock): Promise<void> {
  const now = await databaseNow(db, clock)
  await deleteExpiredSessions(db, now)
  await deleteExpiredChallenges(db, now)
  await deleteOldSignInAttempts(db, now)
  await db.transaction((tx) => recordCounted(tx, clock, now))
}
