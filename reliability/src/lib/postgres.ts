import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, type Database, openDatabase } from '@parley/server/db/db'
import { openEmbedded } from '@parley/server/db/embedded/embedded'
import { migrate } from '@parley/server/db/migrate/migrate'
import { newFolder, postmasterPid, removeFolder } from '../../../server/testing/data-dir.ts'
import { childrenOf } from './run-scenario.ts'

/** A PostgreSQL of its own, migrated, which can crash and hang. */
export interface Postgres {
  db: Database
  connection: Connection
  admin: Connection
  /** Kills PostgreSQL with SIGKILL. It is started again, recovers what was committed, and accepts connections. */
  crash(): Promise<void>
  /** Stops all its processes, until the function that it returns is called. */
  freeze(): () => void
  close(): Promise<void>
}

/** With fsync on, as in production. */
export async function openPostgres(settings: Record<string, string> = {}): Promise<Postgres> {
  const dataDir = newFolder()
  const embedded = await openEmbedded({ dataDir, purpose: 'visitor', settings })
  await migrate(embedded.connection)
  const db = openDatabase(embedded.connection, () => {}, 3)
  return {
    db,
    connection: embedded.connection,
    admin: embedded.admin,
    async crash() {
      const before = postmasterPid(dataDir)
      if (before !== undefined) process.kill(before, 'SIGKILL')
      while (postmasterPid(dataDir) === before || (await db.whyNotWritable()) !== null) await sleep(50)
    },
    freeze() {
      const postmaster = postmasterPid(dataDir) ?? 0
      // The postmaster first, so that it starts no more of them.
      process.kill(postmaster, 'SIGSTOP')
      const children = childrenOf(postmaster)
      for (const pid of children) process.kill(pid, 'SIGSTOP')
      return () => {
        // The postmaster last: as soon as it runs, children that had ended when they were stopped are gone.
        for (const pid of [...children, postmaster]) process.kill(pid, 'SIGCONT')
      }
    },
    async close() {
      await db.close()
      await embedded.close()
      removeFolder(dataDir)
    },
  }
}
