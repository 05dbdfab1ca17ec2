import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { sweepChallenges } from './challenges.ts'
import { sweepSessions } from './sessions.ts'
import { sweepTries } from './tries.ts'

/** Forgets what no longer opens or holds anything. */
export async function sweepPeople(db: Db, clock: Clock): Promise<void> {
  await sweepSessions(db, clock)
  await sweepChallenges(db, clock)
  await sweepTries(db, clock)
}
