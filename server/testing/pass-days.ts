import { mayDeleteOld } from '../src/db/retention.ts'
import { newLogger } from '../src/telemetry/logger.ts'
import type { TestServer } from './test-server.ts'

/** Days pass without a jump of the database's clock: a running service looks at it all the time. */
export async function passSteadyDays(server: TestServer, days: number): Promise<void> {
  for (let day = 0; day < days; day++) {
    server.clock.forward({ hours: 24 })
    await mayDeleteOld(server.db, server.clock, newLogger('silent'))
  }
  // The partitions of the last days.
  await server.passDays(0)
}
