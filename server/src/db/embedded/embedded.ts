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
import { lastLogLine, toStartupError } from './explain-error.ts'
import {
  clearStaleLocks,
  launchPostmaster,
  runningPostmaster,
  socketDirFor,
  socketPort,
  stopPostmaster,
} from './postmaster.ts'

/**
 * The embedded PostgreSQL is a real server that listens on a Unix socket in the data directory.
 *
 * Every process that uses it has one extra connection that holds the advisory lock `users` in shared mode. The service
 * also holds `service`, so that a second service on the same data directory is detected. If a process dies, its
 * connection closes and both locks are released; PostgreSQL keeps running and the next start uses it. When a process
 * closes and can get `users` exclusively, it was the last one and stops PostgreSQL. If PostgreSQL stops unexpectedly
 * (killed, out of memory, disk full), every process that uses it tries to restart it, and all of them use the first
 * server that starts.
 */
const locks = { users: 7_215_301, service: 7_215_302, roles: 7_215_303 }

/** How long to wait for an unreachable server, for a recovering server, and for another service to stop. */
const timeoutMs = { unreachable: 60_000, recovering: 600_000, otherService: 3000 }

export interface Embedded {
  connection: { host: string; port: number; user: string; password: string; database: string }
  /** Connects as PostgreSQL's superuser. Tests use it to create databases. */
  admin: { host: string; port: number; user: string; password: string; database: string }
  close(): Promise<void>
}

export interface EmbeddedOptions {
  dataDir: string
  /** `service` for the service itself, `visitor` for a short-lived process such as a CLI command. */
  purpose: 'service' | 'visitor'
  say?: (line: string) => void
  settings?: Record<string, string>
  /** Another PostgreSQL than the bundled one. For tests. */
  binaries?: Binaries | undefined
  /** Cancels opening, and stops PostgreSQL if this call started it. */
  signal?: AbortSignal
}

export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const dataDir = resolve(options.dataDir)
  try {
    return await open({ ...options, dataDir })
  } catch (error) {
    throw options.signal?.aborted ? error : toStartupError(error, dataDir)
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
  /** The process ID of the PostgreSQL that this process started, while it runs. */
  launched: number | undefined
}

async function open(options: EmbeddedOptions): Promise<Embedded> {
  const { dataDir, purpose, say = () => {}, settings = {}, signal } = options
  const account = chooseAccount(join(dataDir, 'postgres'))
  ensureDataDir(dataDir, account.switched)
  const binaries = options.binaries ?? findBinaries(account, dataDir)
  const password = createOnce(join(dataDir, 'database-password'), () => randomBase62(32))
  const dir = await ensureCluster(dataDir, account, binaries, password, say, signal)
  signal?.throwIfAborted()
  const socketDir = socketDirFor(dir, account)
  const logFile = join(dataDir, 'postgres.log')
  const launched = undefined
  const cluster = { dataDir, purpose, say, dir, socketDir, logFile, password, account, binaries, settings, launched }
  try {
    const lockClient = await connectAndLock(cluster, signal)
    try {
      await ensureDatabase(lockClient, password)
      signal?.throwIfAborted()
    } catch (error) {
      await release(cluster, lockClient)
      throw error
    }
    return watchConnection(cluster, lockClient)
  } catch (error) {
    await stopUnused(cluster)
    throw error
  }
}

/** Restarts PostgreSQL when the connection that holds the locks is lost, until `close` is called. */
function watchConnection(cluster: Cluster, first: pg.Client): Embedded {
  const closing = new AbortController()
  let lockClient = first
  let reconnecting = Promise.resolve()
  const watch = () =>
    lockClient.once('end', () => {
      if (!closing.signal.aborted) reconnecting = reconnect()
    })
  async function reconnect(): Promise<void> {
    let lastMessage = ''
    for (let waitMs = 100; !closing.signal.aborted; waitMs = Math.min(2 * waitMs, 5000)) {
      try {
        lockClient = await connectAndLock(cluster, closing.signal)
        watch()
        return
      } catch (error) {
        if (closing.signal.aborted) return stopUnused(cluster)
        const { message } = toStartupError(error, cluster.dataDir)
        if (message !== lastMessage) cluster.say(message)
        lastMessage = message
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
      await reconnecting
      await release(cluster, lockClient)
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

async function connectAndLock(cluster: Cluster, signal: AbortSignal | undefined): Promise<pg.Client> {
  const otherServiceDeadline = Date.now() + timeoutMs.otherService
  const deadline = Date.now() + timeoutMs.unreachable
  for (;;) {
    const client = await connectOrStart(cluster, signal)
    try {
      // If the last user is stopping the server, it holds `users` exclusively. Our wait then fails with the connection,
      // and we start the server again.
      await client.query('select pg_advisory_lock_shared($1)', [locks.users])
      if (cluster.purpose === 'visitor' || (await tryLock(client, locks.service))) return client
      await client.end()
    } catch (error) {
      await client.end().catch(() => {})
      if (!isTransient(error) || Date.now() > deadline) throw error
      await sleep(50, undefined, { signal })
      continue
    }
    if (Date.now() > otherServiceDeadline) {
      throw new StartupError(
        `Parley is already running with the data directory ${cluster.dataDir}. Stop it first, or set PARLEY_DATA_DIR and PORT to run a second one.`,
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
  for (let reported = false; ; await sleep(20, undefined, { signal })) {
    signal?.throwIfAborted()
    if (runningPostmaster(cluster.dir) === undefined)
      await startPostgres(cluster, began + timeoutMs.unreachable, signal)
    try {
      return await connect(cluster)
    } catch (error) {
      const recovering = (error as { code?: string }).code === '57P03'
      const waitedMs = Date.now() - began
      if (!isTransient(error) || waitedMs > timeoutMs[recovering ? 'recovering' : 'unreachable']) throw error
      if (recovering && waitedMs > 3000 && !reported) {
        cluster.say('PostgreSQL is recovering after an unclean shutdown. This may take a few minutes…')
        reported = true
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
 * Whether a retry may succeed. 57P01 to 57P03: the server is stopping, has crashed, is starting or recovering. ENOENT
 * and ECONNREFUSED: the socket does not exist. A closed connection: the server is stopping.
 */
function isTransient(error: unknown): boolean {
  const { code = '', message } = error as { code?: string; message: string }
  return (
    /^(57P0[123]|53300|ENOENT|ECONNREFUSED|ECONNRESET|EPIPE)$/.test(code) ||
    /^Connection terminated|not queryable/.test(message)
  )
}

/** Returns when PostgreSQL runs, started by this process or by another one. */
async function startPostgres(cluster: Cluster, deadline: number, signal: AbortSignal | undefined): Promise<void> {
  const { binaries, dir, socketDir, logFile, account, settings } = cluster
  clearStaleLocks(dir, socketDir)
  const logSize = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
  const launched = launchPostmaster(binaries.postgres, dir, socketDir, logFile, account, settings)
  cluster.launched = launched.pid
  let ended = false
  void launched.exit.then(() => {
    ended = true
    if (cluster.launched === launched.pid) cluster.launched = undefined
  })
  while (!ended && runningPostmaster(dir) === undefined) await sleep(5, undefined, { signal })
  if (!ended) return
  const reason = lastLogLine(logFile, logSize, launched.pid)
  // Another process started it first, or backends of a server that was killed are still exiting.
  const isTemporary = /lock file .* (already exists|is empty)|pre-existing shared memory block|already in use/.test(
    reason,
  )
  if (!isTemporary || Date.now() > deadline) throw new Error(reason)
  await sleep(100, undefined, { signal })
}

async function ensureDatabase(admin: pg.Client, password: string): Promise<void> {
  await admin.query('select pg_advisory_lock($1)', [locks.roles])
  // Not a superuser, because row-level security does not apply to superusers.
  const role = await admin.query("select 1 from pg_roles where rolname = 'parley'")
  if (role.rowCount === 0) {
    await admin.query(`create role parley login createdb password ${admin.escapeLiteral(password)}`)
  }
  const database = await admin.query("select 1 from pg_database where datname = 'parley'")
  if (database.rowCount === 0) await admin.query('create database parley owner parley')
  await admin.query('select pg_advisory_unlock($1)', [locks.roles])
}

/** Releases the locks, and stops PostgreSQL if no other process uses it. */
async function release(cluster: Cluster, client: pg.Client): Promise<void> {
  try {
    await client.query('select pg_advisory_unlock_all()')
    const isLast = await tryLock(client, locks.users)
    const pid = runningPostmaster(cluster.dir)
    if (isLast && pid !== undefined) await stopPostmaster(pid)
  } catch {
    // PostgreSQL has stopped already, and the locks are gone with it.
  } finally {
    await client.end().catch(() => {})
  }
}

/** Stops the PostgreSQL that this process started but could not open, unless other processes use it. */
async function stopUnused(cluster: Cluster): Promise<void> {
  if (cluster.launched === undefined) return
  const client = await connect(cluster).catch(() => undefined)
  if (client) await release(cluster, client)
  else await stopPostmaster(cluster.launched)
}
