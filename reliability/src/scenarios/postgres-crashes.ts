import { crashRounds, strikePromise } from '../lib/crash-rounds.ts'
import type { Scenario } from '../lib/scenario.ts'

/** PostgreSQL is killed with SIGKILL and started again, five times, while the service receives and delivers. */
export const scenario: Scenario = {
  name: 'postgres-crashes',
  wanted: strikePromise,
  run: (say) => crashRounds(5, say, (postgres) => postgres.crash()),
}
