import { crashUnderLoad } from '../../../server/testing/crash.ts'
import { openPostgres, type Postgres } from './postgres.ts'
import type { Outcome } from './scenario.ts'

/** The promise of rounds that kill the service. A killed service loses unrecorded attempts. */
export const killPromise = 'no event lost, no more repeats than were in flight'
/** The promise of rounds that hit PostgreSQL. The service records its attempts when PostgreSQL is back. */
export const strikePromise = 'no event lost, none repeated'

/** A service receives and delivers while it is killed, or while `strike` happens to its PostgreSQL. */
export async function crashRounds(
  rounds: number,
  say: (line: string) => void,
  strike?: (postgres: Postgres) => Promise<void>,
): Promise<Outcome> {
  const postgres = await openPostgres()
  try {
    const { acknowledged, lost, repeats, inFlight } = await crashUnderLoad({
      db: postgres.db,
      connection: postgres.connection,
      rounds,
      writers: 8,
      // The leases of killed workers expire by themselves.
      wait: async () => {},
      say,
      ...(strike && { crash: () => strike(postgres) }),
    })
    return {
      figure: `${lost} of ${acknowledged} lost, ${repeats} repeats, ${inFlight} in flight`,
      ok: acknowledged > 0 && lost === 0 && repeats <= (strike ? 0 : inFlight),
    }
  } finally {
    await postgres.close()
  }
}
