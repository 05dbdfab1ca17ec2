import { crashRounds, nothingLost } from './lib/crash-rounds.ts'
import type { Scenario } from './lib/scenario.ts'

/** PostgreSQL crashes and restarts five times while the service receives and delivers. */
export const scenario: Scenario = {
  name: 'postgres-crashes',
  wanted: nothingLost,
  run: (say) => crashRounds(5, say, (postgres) => postgres.crash()),
}
