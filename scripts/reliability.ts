// Kills the delivering process outright, twenty times under load, and looks whether every event arrives all the same:
// `npm run reliability [rounds]`. On a PostgreSQL of its own, with its disk writes on; takes about two minutes.
import { openDatabase } from '../server/src/db/db.ts'
import { openEmbedded } from '../server/src/db/embedded/embedded.ts'
import { migrate } from '../server/src/db/migrate.ts'
import { crashUnderLoad } from '../server/testing/crash.ts'
import { newFolder, removeFolder } from '../server/testing/data-dir.ts'

const rounds = Number(process.argv[2] ?? 20)
const dataDir = newFolder('parley-reliability-')
const embedded = await openEmbedded({ dataDir, purpose: 'visitor' })
try {
  await migrate(embedded.connection)
  const { host, port, user, password, database } = embedded.connection
  const databaseUrl = `postgresql://${user}:${password}@localhost:${port}/${database}?host=${encodeURIComponent(String(host))}`
  const db = openDatabase(embedded.connection, () => {}, 3)
  const outcome = await crashUnderLoad({
    db,
    databaseUrl,
    rounds,
    writers: 8,
    // The leases of the killed run out by themselves.
    wait: async () => {},
    say: (line) => console.log(line),
  })
  await db.close()
  console.log(outcome)
  const kept = outcome.lost === 0 && outcome.repeats <= outcome.inFlight
  console.log(kept ? 'Nothing was lost.' : 'FAILED')
  process.exitCode = kept ? 0 : 1
} finally {
  await embedded.close()
  removeFolder(dataDir)
}
