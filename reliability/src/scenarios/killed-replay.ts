// An endpoint that was made today gets the 100,000 events of last week by a replay, while new events arrive at the same endpoint.
// The service is killed twice on the way. Takes about five minutes.
import { openDatabase } from '@parley/server/db/db'
import { openEmbedded } from '@parley/server/db/embedded/embedded'
import { migrate } from '@parley/server/db/migrate/migrate'
import { newFolder, removeFolder } from '../../../server/testing/data-dir.ts'
import { replayThroughKills } from '../../../server/testing/killed-replay.ts'
import type { Outcome, Scenario } from '../lib/scenario.ts'

const events = 100_000
const rate = 500
/** The rate holds for attempts that begin. On a busy machine some arrive a little closer together. */
const jitter = 1.05

async function run(say: (line: string) => void): Promise<Outcome> {
  const dataDir = newFolder('parley-replay-')
  const embedded = await openEmbedded({ dataDir, purpose: 'visitor' })
  try {
    await migrate(embedded.connection)
    const { connection } = embedded
    const db = openDatabase(connection, () => {}, 4)
    const outcome = await replayThroughKills({ db, connection, events, rate, kills: 2, aloneMs: 20_000, say })
    await db.close()
    const { replay, missing, wrong, repeats, inFlight, mostPerSecond, p99 } = outcome
    const isCounted = replay.state === 'completed' && replay.total === events && replay.delivered === events
    const ok =
      isCounted &&
      missing === 0 &&
      wrong === 0 &&
      repeats <= inFlight &&
      mostPerSecond <= rate * jitter &&
      p99.during <= 2 * p99.alone
    const figure = `${replay.delivered} of ${replay.total} delivered, ${missing} missing; ${repeats} repeated of ${inFlight} in flight; at most ${mostPerSecond} in a second; new events p99 ${p99.during.toFixed(0)} ms (alone ${p99.alone.toFixed(0)} ms)`
    return { figure, ok }
  } finally {
    await embedded.close()
    removeFolder(dataDir)
  }
}

export const scenario: Scenario = {
  name: 'killed-replay',
  wanted:
    'every event arrives once, at most those in flight twice, within the rate; new events take at most twice as long',
  limitSeconds: 900,
  run,
}
