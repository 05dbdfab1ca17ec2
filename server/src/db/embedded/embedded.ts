import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { createOnce } from '../../lib/create-once.ts'
import { randomBase62 } from '../../lib/ids.ts'
import { StartupError } from '../../lib/refuse.ts'
import { type Account, chooseAccount } from './account.ts'
import { type Binaries, findBinaries } from './binaries.ts'
import { ensureCluster, ensureDataDir } from './cluster.ts'
import { explain, lastLogLines } from './faults.ts'
import {
  clearStaleLocks,
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
 * The last one to leave gets `users` alone, and stops PostgreSQL. Where PostgreSQL goes away under its users (killed, out
 * of memory, a full disk), each tries to bring it back until it closes; the first to start it serves them all.
 */
const locks = { users: 7_215_301, service: 7_215_302, roles: 7_215_303 }

/** How long to wait for a server that cannot be reached, and for one that answers that it is recovering. */
const timeoutMs = { unreachable: 60_000, recovering: 600_000, otherService: 3000 }

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
  /** Gives up opening, and leaves nothing running that was not running before. */
  signal?: AbortSignal
}

export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const dataDir = resolve(options.dataDir)
  try {
    return await open({ ...options, dataDir })
  } catch (error) {
    throw options.signal?.aborted ? error : explain(error, dataDir)
  }
}

interface Cluster {
  dataDir: string
  purpose: EmbeddedOptions['purpose']
  say: (line: string) => void
  dir: string
  socketDir: string
  logFile: string
  password: string
  account: Account
  binaries: Binaries
  settings: Record<string, string>
  /** The PostgreSQL that this process started, while it runs. */
  launched: number | undefined
}

async function open(options: EmbeddedOptions): Promise<Embedded> {
  const { dataDir, purpose, say = () => {}, settings = {}, signal } = options
  const account = chooseAccount(join(dataDir, 'postgres'))
  ensureDataDir(dataDir, account.switched)
  const binaries = findBinaries(account, dataDir)
  const password = createOnce(join(dataDir, 'database-password'), () => randomBase62(32))
  const dir = await ensureCluster(dataDir, account, binaries, password, say)
  signal?.throwIfAborted()
  const socketDir = socketDirFor(dir, account)
  const logFile = join(dataDir, 'postgres.log')
  const launched = undefined
  const cluster = { dataDir, purpose, say, dir, socketDir, logFile, password, account, binaries, settings, launched }
  try {
    const anchor = await takeAnchor(cluster, signal)
    try {
      await ensureDatabase(anchor, password)
    } catch (error) {
      await leave(cluster, anchor)
      throw error
    }
    return opened(cluster, anchor)
  } catch (error) {
    await withdraw(cluster)
    throw error
  }
}

function opened(cluster: Cluster, first: pg.Client): Embedded {
  const closing = new AbortController()
  let anchor = first
  let back = Promise.resolve()
  const watch = () =>
    anchor.once('end', () => {
      if (!closing.signal.aborted) back = comeBack()
    })
  async function comeBack(): Promise<void> {
    let told = ''
    for (let waitMs = 100; !closing.signal.aborted; waitMs = Math.min(2 * waitMs, 5000)) {
      try {
        anchor = await takeAnchor(cluster, closing.signal)
        watch()
        return
      } catch (error) {
        if (closing.signal.aborted) return withdraw(cluster)
        const { message } = explain(error, cluster.dataDir)
        if (message !== told) cluster.say(message)
        told = message
        await sleep(waitMs, undefined, { signal: closing.signal }).catch(() => {})
      }
    }
  }
  watch()
  return {
    connection: connectionTo(cluster, 'parley', 'parley'),
    admin: connectionTo(cluster, 'postgres', 'postgres'),
    async close() {
      closing.abort()
      await back
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

async function takeAnchor(cluster: Cluster, signal: AbortSignal | undefined): Promise<pg.Client> {
  const timeouts = Date.now() + timeoutMs.otherService
  const deadline = Date.now() + timeoutMs.unreachable
  for (;;) {
    const anchor = await connectOrStart(cluster, signal)
    try {
      // A server about to stop holds `users` alone: the wait then ends with the connection, and we start it again.
      await anchor.query('select pg_advisory_lock_shared($1)', [locks.users])
      if (cluster.purpose === 'visitor' || (await tryLock(anchor, locks.service))) return anchor
      await anchor.end()
    } catch (error) {
      await anchor.end().catch(() => {})
      if (!isPassing(error) || Date.now() > deadline) throw error
      await sleep(50, undefined, { signal })
      continue
    }
    if (Date.now() > timeouts) {
      throw new StartupError(
        `Parley is already running on ${cluster.dataDir}. Stop that one first, or set PARLEY_DATA_DIR and PORT for a second one.`,
      )
    }
    await sleep(100, undefined, { signal })
  }
}

async function tryLock(client: pg.Client, lock: number): Promise<boolean> {
  const { rows } = await client.query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [lock])
  return rows[0]?.got === true
}

async function connectOrStart(cluster: Cluster, signal: AbortSignal | undefined): Promise<pg.Client> {
  const began = Date.now()
  for (let told = false; ; await sleep(20, undefined, { signal })) {
    signal?.throwIfAborted()
    if (runningPostmaster(cluster.dir) === undefined) await start(cluster, began + timeoutMs.unreachable, signal)
    try {
      return await connect(cluster)
    } catch (error) {
      const recovering = (error as { code?: string }).code === '57P03'
      const waitedMs = Date.now() - began
      if (!isPassing(error) || waitedMs > timeoutMs[recovering ? 'recovering' : 'unreachable']) throw error
      if (recovering && waitedMs > 3000 && !told) {
        cluster.say('PostgreSQL is putting its files in order after a sudden end; this may take a while…')
        told = true
      }
    }
  }
}

async function connect(cluster: Cluster): Promise<pg.Client> {
  const client = new pg.Client(connectionTo(cluster, 'postgres', 'postgres'))
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

/**
 * 57P01 to 57P03: stopping, crashed, starting up or recovering. ENOENT, ECONNREFUSED: no socket yet, or no longer. A
 * connection that ends unasked belongs to a server that does.
 */
function isPassing(error: unknown): boolean {
  const { code = '', message } = error as { code?: string; message: string }
  return (
    /^(57P0[123]|53300|ENOENT|ECONNREFUSED|ECONNRESET|EPIPE)$/.test(code) ||
    /^Connection terminated|not queryable/.test(message)
  )
}

/** Returns when it runs, or when somebody else's does. */
async function start(cluster: Cluster, deadline: number, signal: AbortSignal | undefined): Promise<void> {
  const { binaries, dir, socketDir, logFile, account, settings } = cluster
  clearStaleLocks(dir, socketDir)
  const logged = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
  const launched = launchPostmaster(binaries.postgres, dir, socketDir, logFile, account, settings)
  cluster.launched = launched.pid
  let ended = false
  void launched.exit.then(() => {
    ended = true
    if (cluster.launched === launched.pid) cluster.launched = undefined
  })
  while (!ended && runningPostmaster(dir) === undefined) await sleep(5, undefined, { signal })
  if (!ended) return
  const words = lastLogLines(logFile, logged, launched.pid)
  // Another process was a moment faster, or the backends of one that was killed are still on their way out.
  const passing = /lock file .* (already exists|is empty)|pre-existing shared memory block|already in use/.test(words)
  if (!passing || Date.now() > deadline) throw new Error(words)
  await sleep(100, undefined, { signal })
}

async function ensureDatabase(anchor: pg.Client, password: string): Promise<void> {
  await anchor.query('select pg_advisory_lock($1)', [locks.roles])
  // Not a superuser: row-level security has to hold for it.
  const role = await anchor.query("select 1 from pg_roles where rolname = 'parley'")
  if (role.rowCount === 0) {
    await anchor.query(`create role parley login createdb password ${anchor.escapeLiteral(password)}`)
  }
  const database = await anchor.query("select 1 from pg_database where datname = 'parley'")
  if (database.rowCount === 0) await anchor.query('create database parley owner parley')
  await anchor.query('select pg_advisory_unlock($1)', [locks.roles])
}

async function leave(cluster: Cluster, anchor: pg.Client): Promise<void> {
  try {
    await anchor.query('select pg_advisory_unlock_all()')
    const last = await tryLock(anchor, locks.users)
    const pid = runningPostmaster(cluster.dir)
    if (last && pid !== undefined) await stopPostmaster(pid)
  } catch {
    // PostgreSQL went first: there is nothing to leave.
  } finally {
    await anchor.end().catch(() => {})
  }
}

/** Stops what this process started but never got to use, unless others use it by now. */
async function withdraw(cluster: Cluster): Promise<void> {
  if (cluster.launched === undefined) return
  const client = await connect(cluster).catch(() => undefined)
  if (client) await leave(cluster, client)
  else await stopPostmaster(cluster.launched)
}
