import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { type Connection, type Database, openDatabase } from '@parley/server/db/db'
import { openEmbedded } from '@parley/server/db/embedded/embedded'
import { migrate } from '@parley/server/db/migrate/migrate'
import { newFolder, removeFolder } from '../../../server/testing/data-dir.ts'
import { newDeliveryProcesses } from '../../../server/testing/delivery-processes.ts'
import { freezeUnderLoad } from '../../../server/testing/freeze.ts'
import { until } from '../../../server/testing/until.ts'

const preload = pathToFileURL(join(import.meta.dirname, '..', '..', '..', 'server', 'testing', 'wrong-clock.ts')).href

/** Processes whose clocks differ, one whose clock jumps, and two that are frozen until their leases have ended. */
export const scenario = {
  name: 'wrong-clocks',
  wanted: 'nothing lost, and nothing twice except what was in flight when a process was frozen',
  async run(say: (line: string) => void): Promise<{ figure: string; ok: boolean }> {
    const dataDir = newFolder('parley-reliability-')
    const embedded = await openEmbedded({ dataDir, purpose: 'visitor' })
    try {
      await migrate(embedded.connection)
      const db = openDatabase(embedded.connection, () => {}, 3)
      try {
        const apart = await deliverApart(db, embedded.connection, dataDir, say)
        const frozen = await freezeUnderLoad(db, embedded.connection, say)
        const lost = apart.lost + frozen.lost
        const repeats = apart.repeats + frozen.otherRepeats
        return {
          figure: `lost ${lost}, twice ${repeats} of ${apart.acknowledged + frozen.acknowledged}; of ${frozen.inFlight} in flight in frozen processes ${frozen.inFlightRepeats} twice; 40 s apart: ${apart.refused ? 'refused to start' : 'started'}`,
          ok: lost === 0 && repeats === 0 && frozen.inFlightRepeats <= frozen.inFlight && apart.refused,
        }
      } finally {
        await db.close()
      }
    } finally {
      await embedded.close()
      removeFolder(dataDir)
    }
  },
}

/** Two processes 10 seconds apart share the deliveries of an API process; then the clock of one jumps to 40 seconds. */
async function deliverApart(db: Database, connection: Connection, folder: string, say: (line: string) => void) {
  const { start, post, arrivals, close } = await newDeliveryProcesses(db, connection)
  const file = join(folder, 'ahead')
  const env = { PARLEY_TEST_CLOCK_FILE: file, NODE_OPTIONS: `--import ${preload}` }
  try {
    writeFileSync(file, '40000')
    const refused = await start('worker', env).then(
      () => false,
      (error: Error) => error.message.includes('40 seconds ahead of'),
    )
    const api = await start('api')
    await start('worker')
    writeFileSync(file, '10000')
    const wrong = await start('worker', env)
    const statusOf = async () => (await fetch(`${wrong.url}/readyz`)).status
    const ids: string[] = []
    const load = async (rounds: number) => {
      for (let round = 0; round < rounds; round++) {
        ids.push(...(await post(api, 20)))
        await sleep(50)
      }
    }
    await load(20)
    say(`10 s apart: ${ids.length} acknowledged, ${arrivals.size} arrived`)
    writeFileSync(file, '40000')
    wrong.child.kill('SIGUSR2')
    const jumping = load(40)
    await until('the process whose clock jumped is not ready', async () => (await statusOf()) === 503)
    await jumping
    await until('all have arrived', () => ids.every((id) => arrivals.has(id)), 60_000)
    say(`jumped to 40 s: ${ids.length} acknowledged, ${arrivals.size} arrived; /readyz returns 503`)
    return {
      refused,
      acknowledged: ids.length,
      lost: ids.filter((id) => !arrivals.has(id)).length,
      repeats: [...arrivals.values()].reduce((sum, times) => sum + times.length - 1, 0),
    }
  } finally {
    await close()
  }
}
