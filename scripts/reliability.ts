// Checks that a service which receives and delivers loses no events: the service is killed with SIGKILL twenty times, its
// PostgreSQL crashes five times and hangs for twelve seconds twice. `npm run reliability [kills]` uses its own PostgreSQL
// with fsync on and takes about four minutes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, openDatabase } from '../server/src/db/db.ts'
import { openEmbedded } from '../server/src/db/embedded/embedded.ts'
import { migrate } from '../server/src/db/migrate.ts'
import { crashUnderLoad } from '../server/testing/crash.ts'
import { newFolder, removeFolder } from '../server/testing/data-dir.ts'

const kills = Number(process.argv[2] ?? 20)
const hangMs = 12_000

const backends = async (db: Database): Promise<number[]> =>
  (await db.rows<{ pid: number }>('select pid from pg_stat_activity where pid <> pg_backend_pid()')).map(
    ({ pid }) => pid,
  )

/** Killing one backend makes PostgreSQL restart all of them and recover without transactions that were not committed. */
async function crashPostgres(db: Database): Promise<void> {
  const [victim] = await db.rows<{ pid: number }>(
    `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1`,
  )
  if (victim) process.kill(victim.pid, 'SIGKILL')
  await sleep(1_000)
}

async function hangPostgres(db: Database, postmaster: number): Promise<void> {
  const all = [postmaster, ...(await backends(db))]
  const resume = () => {
    for (const pid of all) process.kill(pid, 'SIGCONT')
  }
  for (const pid of all) process.kill(pid, 'SIGSTOP')
  process.once('exit', resume)
  await sleep(hangMs)
  process.off('exit', resume)
  resume()
}

async function round(name: string, rounds: number, strike?: (db: Database, postmaster: number) => Promise<void>) {
  const dataDir = newFolder('parley-reliability-')
  const embedded = await openEmbedded({ dataDir, purpose: 'visitor' })
  try {
    await migrate(embedded.connection)
    const db = openDatabase(embedded.connection, () => {}, 3)
    const postmaster = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
    console.log(name)
    const outcome = await crashUnderLoad({
      db,
      connection: embedded.connection,
      rounds,
      writers: 8,
      // The leases of killed workers expire by themselves.
      wait: async () => {},
      say: (line) => console.log(`  ${line}`),
      ...(strike && { crash: () => strike(db, postmaster) }),
    })
    await db.close()
    console.log(outcome)
    const isReliable = outcome.lost === 0 && outcome.repeats <= outcome.inFlight
    console.log(isReliable ? 'No events were lost.' : 'FAILED')
    if (!isReliable) process.exitCode = 1
  } finally {
    await embedded.close()
    removeFolder(dataDir)
  }
}

await round('the service is killed', kills)
await round('PostgreSQL crashes', 5, crashPostgres)
await round(`PostgreSQL hangs for ${hangMs / 1000} seconds`, 2, hangPostgres)
