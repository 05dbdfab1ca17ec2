import { databaseNow } from '../../db/database-clock.ts'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { sweepChallenges } from './challenges.ts'
import { sweepSessions } from './sessions.ts'
import { sweepTries } from './tries.ts'

/** Forgets what no longer opens or holds anything. */
export async function sweepPeople(db: Db, clock: Clock): Promise<void> {
  const now = await databaseNow(db, clock)
  await sweepSessions(db, now)
  await sweepChallenges(db, now)
  await sweepTries(db, now)
}
