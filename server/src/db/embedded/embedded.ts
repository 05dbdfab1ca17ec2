import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { randomBase62 } from '../../lib/ids.ts'
import { keptFile } from '../../lib/kept-file.ts'
import { Unfit } from '../../lib/refuse.ts'
import { type Account, chooseAccount } from './account.ts'
import { type Binaries, findBinaries } from './binaries.ts'
import { ensureCluster, ensureDataDir } from './cluster.ts'
import { explain, lastWords } from './faults.ts'
import {
  clearStalePid,
  launchPostmaster,
  runningPostmaster,
  socketDirFor,
  socketPort,
  stopPostmaster,
} from './postmaster.ts'

/**
 * The embedded PostgreSQL: a real server on a Unix socket inside the data directory.
 *
 * Whoever uses it holds the lock `users` in shared mode on a connection of its own, the anchor; the service holds
 * `service` as well, so a second service on the same data directory finds out. A process that dies lets go of both
 * because its connection ends with it: what it leaves behind is a running PostgreSQL, which the next start simply uses.
 * The last one to leave gets `users` alone, and stops PostgreSQL.
 */
const locks = { users: 7_215_301, service: 7_215_302 }

export interface Embedded {
  connection: { host: string; port: number; user: string; password: string; database: string }
  /** The same for PostgreSQL's own administrator; for creating databases in tests. */
  admin: { host: string; port: number; user: string; password: string; database: string }
  close(): Promise<void>
}

export interface EmbeddedOptions {
  dataDir: string
  /** The service itself, or a passing user such as an operator's command. */
  purpose: 'service' | 'visitor'
  say?: (line: string) => void
  settings?: Record<string, string>
}

export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const dataDir = resolve(options.dataDir)
  try {
    return await open({ ...options, dataDir })
  } catch (error) {
    throw explain(error, dataDir)
  }
}

interface Cluster {
  dir: string
  socketDir: string
  logFile: string
  password: string
  account: Account
  binaries: Binaries
  settings: Record<string, string>
}

async function open({ dataDir, purpose, say = () => {}, settings = {} }: EmbeddedOptions): Promise<Embedded> {
  const account = chooseAccount(join(dataDir, 'postgres'))
  ensureDataDir(dataDir, account.switched)
  const binaries = findBinaries(account, dataDir)
  const password = keptFile(join(dataDir, 'database-password'), () => randomBase62(32))
  const dir = await ensureCluster(dataDir, account, binaries, password, say)
  const socketDir = socketDirFor(dir, account)
  const cluster = { dir, socketDir, logFile: join(dataDir, 'postgres.log'), password, account, binaries, settings }

  let closing = false
  let anchor = await takeAnchor(cluster, purpose, dataDir)
  const watch = () =>
    anchor.once('end', async () => {
      // PostgreSQL went away under us (killed, or out of memory): bring it back, however long that takes.
      while (!closing) {
        try {
          anchor = await takeAnchor(cluster, purpose, dataDir)
          watch()
          return
        } catch (error) {
          say(explain(error, dataDir).message)
          await sleep(1000)
        }
      }
    })
  watch()
  await ensureDatabase(cluster)
  return {
    connection: connectionTo(cluster, 'parley', 'parley'),
    admin: connectionTo(cluster, 'postgres', 'postgres'),
    async close() {
      closing = true
      await leave(cluster, anchor)
    },
  }
}

const connectionTo = ({ socketDir, password }: Cluster, user: string, database: string) => ({
  host: socketDir,
  port: socketPort,
  user,
  password,
  database,
})

async function takeAnchor(cluster: Cluster, purpose: EmbeddedOptions['purpose'], dataDir: string): Promise<pg.Client> {
  const patience = Date.now() + 3000
  for (;;) {
    const anchor = await connectOrStart(cluster)
    try {
      // A server about to stop holds `users` alone: the wait then ends with the connection, and we start it again.
      await anchor.query('select pg_advisory_lock_shared($1)', [locks.users])
      if (purpose === 'visitor' || (await tryLock(anchor, locks.service))) return anchor
      await anchor.end()
    } catch {
      await anchor.end().catch(() => {})
      await sleep(50)
      continue
    }
    if (Date.now() > patience) {
      throw new Unfit(
        `Parley is already running on ${dataDir}. Stop that one first, or set PARLEY_DATA_DIR and PORT for a second one.`,
      )
    }
    await sleep(100)
  }
}

async function tryLock(client: pg.Client, lock: number): Promise<boolean> {
  const { rows } = await client.query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [lock])
  return rows[0]?.got === true
}

async function connectOrStart(cluster: Cluster): Promise<pg.Client> {
  const deadline = Date.now() + 60_000
  for (;;) {
    if (runningPostmaster(cluster.dir) === undefined) await start(cluster, deadline)
    const client = new pg.Client(connectionTo(cluster, 'postgres', 'postgres'))
    client.on('error', () => {})
    try {
      await client.connect()
      return client
    } catch (error) {
      await client.end().catch(() => {})
      const { code } = error as { code?: string }
      // 57P03: starting up, recovering or shutting down. ENOENT, ECONNREFUSED: no socket yet, or no longer.
      const passing = ['57P03', '53300', 'ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(code ?? '')
      if (!passing || Date.now() > deadline) throw error
      await sleep(20)
    }
  }
}

/** Returns when it runs, or when somebody else's does. */
async function start(cluster: Cluster, deadline: number): Promise<void> {
  clearStalePid(cluster.dir)
  const logged = existsSync(cluster.logFile) ? statSync(cluster.logFile).size : 0
  const { binaries, dir, socketDir, logFile, account, settings } = cluster
  const launched = launchPostmaster(binaries.postgres, dir, socketDir, logFile, account, settings)
  let ended = false
  void launched.exit.then(() => {
    ended = true
  })
  while (!ended && runningPostmaster(dir) === undefined) await sleep(5)
  if (!ended) return
  const words = lastWords(logFile, statSync(logFile).size >= logged ? logged : 0)
  // Another process was a moment faster, or the backends of one that was killed are still on their way out.
  const passing = /postmaster\.pid.*already exists|pre-existing shared memory block|already in use/.test(words)
  if (!passing || Date.now() > deadline) throw new Error(words)
  await sleep(100)
}

async function ensureDatabase(cluster: Cluster): Promise<void> {
  const client = new pg.Client(connectionTo(cluster, 'postgres', 'postgres'))
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [locks.service + 1])
    // Not a superuser: row-level security has to hold for it.
    const role = await client.query("select 1 from pg_roles where rolname = 'parley'")
    if (role.rowCount === 0) {
      await client.query(`create role parley login createdb password ${client.escapeLiteral(cluster.password)}`)
    }
    const database = await client.query("select 1 from pg_database where datname = 'parley'")
    if (database.rowCount === 0) await client.query('create database parley owner parley')
  } finally {
    await client.end()
  }
}

async function leave(cluster: Cluster, anchor: pg.Client): Promise<void> {
  try {
    await anchor.query('select pg_advisory_unlock_all()')
    const last = await tryLock(anchor, locks.users)
    const pid = runningPostmaster(cluster.dir)
    if (last && pid !== undefined) await stopPostmaster(pid)
  } finally {
    await anchor.end().catch(() => {})
  }
}
