// Strikes at a service that receives and delivers, and looks whether every event arrives all the same. It is killed outright
// twenty times; its PostgreSQL crashes five times and hangs for twelve seconds twice: `npm run reliability [kills]`. On a
// PostgreSQL of its own, with its disk writes on; takes about four minutes.
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

/** One that dies takes all others with it: PostgreSQL starts anew, without what was not yet written for good. */
async function crashPostgres(db: Database): Promise<void> {
  const [victim] = await db.rows<{ pid: number }>(
    `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1`,
  )
  if (victim) process.kill(victim.pid, 'SIGKILL')
  await sleep(1_000)
}

async function hangPostgres(db: Database, postmaster: number): Promise<void> {
  const all = [postmaster, ...(await backends(db))]
  const goOn = () => {
    for (const pid of all) process.kill(pid, 'SIGCONT')
  }
  for (const pid of all) process.kill(pid, 'SIGSTOP')
  process.once('exit', goOn)
  await sleep(hangMs)
  process.off('exit', goOn)
  goOn()
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
      // The leases of the killed run out by themselves.
      wait: async () => {},
      say: (line) => console.log(`  ${line}`),
      ...(strike && { crash: () => strike(db, postmaster) }),
    })
    await db.close()
    console.log(outcome)
    const kept = outcome.lost === 0 && outcome.repeats <= outcome.inFlight
    console.log(kept ? 'Nothing was lost.' : 'FAILED')
    if (!kept) process.exitCode = 1
  } finally {
    await embedded.close()
    removeFolder(dataDir)
  }
}

await round('the service is killed', kills)
await round('PostgreSQL crashes', 5, crashPostgres)
await round(`PostgreSQL hangs for ${hangMs / 1000} seconds`, 2, hangPostgres)
