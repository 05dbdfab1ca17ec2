import { setTimeout as sleep } from 'node:timers/promises'
import { crashRounds, strikePromise } from '../lib/crash-rounds.ts'
import type { Scenario } from '../lib/scenario.ts'

const hangMs = 12_000

/** All processes of PostgreSQL are stopped for twelve seconds, twice, while the service receives and delivers. */
export const scenario: Scenario = {
  name: 'postgres-hangs',
  wanted: strikePromise,
  run: (say) =>
    crashRounds(2, say, async (postgres) => {
      const resume = postgres.freeze()
      await sleep(hangMs)
      resume()
    }),
}
