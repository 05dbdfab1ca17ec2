import { crashRounds, killPromise } from '../lib/crash-rounds.ts'
import type { Scenario } from '../lib/scenario.ts'

/** The service is killed with SIGKILL at random moments while it receives and delivers. */
export const scenario: Scenario = {
  name: 'killed-20-times',
  wanted: killPromise,
  run: (say) => crashRounds(20, say),
}
