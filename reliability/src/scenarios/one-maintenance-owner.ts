// Three processes share a database. The one that does the maintenance is frozen: another takes over, and the frozen one does
// nothing when it wakes up.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, openDatabase } from '@parley/server/db/db'
import { openEmbedded } from '@parley/server/db/embedded/embedded'
import { migrate } from '@parley/server/db/migrate/migrate'
import { newFolder, removeFolder } from '../../../server/testing/data-dir.ts'
import { type ServiceProcess, spawnService } from '../../../server/testing/service.ts'
import { until } from '../../../server/testing/until.ts'

const wantedSeconds = 25
/** Longer than the most frequent step waits between two runs. */
const afterWakingMs = 8_000

const ownerOf = async (db: Database): Promise<string | undefined> =>
  (await db.first<{ process: string }>('select process from maintenance_owner where until > clock_timestamp()'))
    ?.process

/** The processes that the last run of each step was done by. */
const workersOf = async (db: Database): Promise<string[]> =>
  (await db.rows<{ process: string }>('select distinct process from maintenance_steps')).map(({ process }) => process)

async function freezeOwner(db: Database, processes: readonly ServiceProcess[], say: (line: string) => void) {
  const first = await until('the maintenance has an owner', () => ownerOf(db))
  const owner = processes.find(({ child }) => first.endsWith(`:${child.pid}`))
  if (!owner) throw new Error(`${first} is none of the processes`)
  await until('it did a step', async () => (await workersOf(db)).includes(first))
  say(`${first} does the maintenance and is frozen`)
  const began = performance.now()
  owner.child.kill('SIGSTOP')
  try {
    const isOther = async () => {
      const now = await ownerOf(db)
      return now !== undefined && now !== first && now
    }
    const second = await until('another process takes over', isOther, 60_000)
    const seconds = (performance.now() - began) / 1000
    say(`${second} took over after ${seconds.toFixed(1)} seconds`)
    await until('it did all steps', async () => String(await workersOf(db)) === second, 60_000)
    owner.child.kill('SIGCONT')
    await sleep(afterWakingMs)
    const workers = await workersOf(db)
    const isAlone = String(workers) === second && (await ownerOf(db)) === second
    say(`${first} woke up; steps are done by ${workers.join(' and ')}`)
    return { seconds, isAlone, noticed: owner.output().includes('maintenance.lost') }
  } finally {
    owner.child.kill('SIGCONT')
  }
}

export const scenario = {
  name: 'one-maintenance-owner',
  wanted: `of three processes one does the maintenance; frozen, it is replaced within ${wantedSeconds} s and does nothing when it wakes up`,
  async run(say: (line: string) => void): Promise<{ figure: string; ok: boolean }> {
    const dataDir = newFolder('parley-one-maintenance-owner-')
    const embedded = await openEmbedded({ dataDir, purpose: 'visitor' })
    const db = openDatabase(embedded.connection, () => {}, 3)
    const processes: ServiceProcess[] = []
    try {
      await migrate(embedded.connection)
      for (const role of ['api', 'worker', 'all']) {
        processes.push(await spawnService(embedded.connection, { PARLEY_ROLE: role, LOG_LEVEL: 'info' }))
      }
      const { seconds, isAlone, noticed } = await freezeOwner(db, processes, say)
      const figure = `taken over after ${seconds.toFixed(1)} s; the frozen process did ${isAlone ? 'nothing' : 'MAINTENANCE'} when it woke up`
      return { figure, ok: isAlone && noticed && seconds <= wantedSeconds }
    } finally {
      await Promise.all(processes.map((each) => each.stop()))
      await db.close()
      await embedded.close()
      removeFolder(dataDir)
    }
  },
}
