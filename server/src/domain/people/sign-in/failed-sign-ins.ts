import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { type Actor, recordAuditEntry, system } from '../../audit/audit.ts'
import type { Person } from '../people.ts'
import type { Browser } from './sessions.ts'
import { countFailure, takeCounts } from './sign-in-attempts.sql.ts'

const hourMs = 3_600_000
/**
 * So many failures of an account have an audit entry each, within an hour. Further ones are counted and appear as one
 * entry after that hour: guessing cannot fill the audit log. An unknown email address has no account and no entry.
 */
const listedPerHour = 5

export interface Failure {
  step: 'sign-in' | 'confirmation'
  why: 'wrong password' | 'wrong code' | 'invalid passkey'
}

/** Records that someone failed to sign in as this person, or to confirm that they are this person. */
export const recordFailure = (
  db: Db,
  clock: Clock,
  person: Pick<Person, 'id' | 'email'>,
  browser: Browser,
  { step, why }: Failure,
): Promise<void> =>
  db.transaction(async (tx) => {
    await recordCounted(tx, clock, clock.now(), person.id)
    if ((await countFailure(tx, person.id, clock.now())) > listedPerHour) return
    const action = step === 'sign-in' ? 'session.failed' : 'session.confirm_failed'
    await recordAuditEntry(tx, clock, actorOf(person, browser), { action, workspaceId: null, after: { why } })
  })

/** Someone who claims to be this person. */
export const actorOf = ({ id, email }: Pick<Person, 'id' | 'email'>, { address, userAgent }: Browser): Actor => ({
  personId: id,
  name: email,
  address,
  userAgent,
})

/** Records the failures of an ended hour that have no entry of their own. Call it in a transaction. */
export async function recordCounted(db: Db, clock: Clock, now: Date, personId: string | null = null): Promise<void> {
  for (const count of await takeCounts(db, new Date(now.getTime() - hourMs), personId)) {
    const failures = count.failures - listedPerHour
    if (failures <= 0) continue
    await recordAuditEntry(db, clock, system, {
      action: 'session.failed_more',
      workspaceId: null,
      target: count.personId,
      targetName: count.email,
      after: { failures, since: count.beganAt.toISOString() },
    })
  }
}
