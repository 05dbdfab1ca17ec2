import { lookup } from 'node:dns/promises'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildApi } from './api.ts'
import { type Config, withPort } from './config.ts'
import { toConnection } from './db/connect/connection.ts'
import { newClockCheck, openDatabaseClock } from './db/database-clock.ts'
import { type Db, notResponding } from './db/db.ts'
import { startLoop } from './db/loop.ts'
import { programVersion } from './db/migrate/migrate.ts'
import { ensureToday } from './db/partitions.ts'
import { openReplica } from './db/replica/replica.ts'
import { newSchemaCheck } from './db/schema-version.ts'
import { openStore } from './db/store.ts'
import { newNetwork } from './domain/connections/network.ts'
import { newOtherWorkers } from './domain/deliveries/engine/publish/other-workers.ts'
import { openObjects, warnIfUnreadable } from './domain/files/store.ts'
import { isIdle } from './domain/health/traffic.ts'
import { freeBytes, minFreeBytes } from './lib/disk.ts'
import { StartupError } from './lib/refuse.ts'
import { version } from './lib/version.ts'
import { NameLookups } from './net/name-lookups.ts'
import type { Runtime } from './runtime.ts'
import { type Logger, newLogger } from './telemetry/logger.ts'
import type { TracingSettings } from './telemetry/tracing.ts'
import { GraphClient } from './whatsapp/graph/client.ts'
import { startWork, type Work } from './work.ts'

export interface Service {
  /** The address it listens on. */
  url: string
  runtime: Runtime
  /** Moves its clock forward, for tests, and does what is due then. */
  advance(ms: number): Promise<void>
  /** Whether no message is being sent and no delivery is due. */
  isIdle(): Promise<boolean>
  stop(): Promise<void>
}

interface Companion {
  url: string
  /** A simulated phone for first messages. */
  phone: string | null
  stop(): Promise<void>
}

export interface ServiceOptions {
  config: Config
  log?: Logger
  say?: (line: string) => void
  /** Cancels the start, and stops what was started. */
  signal?: AbortSignal
  /**
   * Starts a second server in this process (the simulator), after the database is open and before the workers start.
   * The configuration has the port of the service.
   */
  startCompanion?: ((config: Config) => Promise<Companion>) | undefined
  /** Shorter ones, for tests. */
  stopLimits?: typeof usualStopLimits
}

/**
 * How long each step of stopping may take. Together they stay below the 15 seconds that operators are promised, even if the
 * database, the network and a client do not respond. A step that takes longer is left behind.
 */
const usualStopLimits = { requestsMs: 5_000, workMs: 6_500, logsMs: 3_000, otherMs: 1_000 }

/** How often a process looks whether its clock has jumped. The database is read less often. */
const watchMs = 500

/** Opens the database, starts the workers and the HTTP server. `stop` stops them in reverse order. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config } = options
  if (config.port !== 0) return startOnPort(options)
  for (let attempt = 1; ; attempt++) {
    try {
      // The port is chosen first, because links and error responses contain it.
      return await startOnPort({ ...options, config: withPort(config, await freePort(config)) })
    } catch (error) {
      // Another process got the same port in the meantime.
      if (!(error instanceof PortTaken) || attempt === 3) throw error
    }
  }
}

async function startOnPort(options: ServiceOptions): Promise<Service> {
  const { config, log = newLogger(config.logLevel), say = () => {}, signal, startCompanion } = options
  const { stopLimits = usualStopLimits } = options
  const store = await openStore(config, {
    purpose: 'service',
    schema: 'migrate',
    say,
    log,
    ...(signal ? { signal } : {}),
  })
  const undo: (() => Promise<void>)[] = [() => store.close()]
  const unwind = async () => {
    for (const step of undo.splice(0).reverse()) {
      // If a step fails, the others still run; the last one stops PostgreSQL.
      await step().catch((error: unknown) =>
        log.warn({ event: 'service.stop_failed', err: error }, 'a step of stopping failed'),
      )
    }
  }
  try {
    let stopping = false
    const { db } = store
    const replica = config.databaseReadUrl === null ? null : openReplica(db, toConnection(config.databaseReadUrl), log)
    if (replica) undo.push(() => within(stopLimits.otherMs, 'the replica', replica.close()))
    if (config.tracing !== null) undo.push(await startTracing(config.tracing, db, log))
    const clock = await openDatabaseClock(db)
    await ensureToday(db, clock)
    const objects = await openObjects(db, config.objectStore, log)
    if (objects) undo.push(async () => objects.close())
    await warnIfUnreadable(db, log)
    const companion = await startCompanion?.(config)
    if (companion) undo.push(() => companion.stop())
    const client = new GraphClient({ productVersion: version, graphVersion: config.graphVersion })
    undo.push(() => Promise.race([client.close(), sleep(stopLimits.otherMs, undefined, { ref: false })]))
    const network = newNetwork({ db, clock, secretKeys: config.secretKeys(), client })
    // One for the process, so that saving a webhook and delivering to it share the cache and the limits.
    const { resolve } = new NameLookups({ servers: config.dnsServers, log, metrics: db.telemetry.metrics })
    const targetRules = { ...config.targetRules, resolve }
    const runtime: Runtime = {
      config: { ...config, targetRules },
      log,
      db,
      replica,
      clock,
      network,
      otherWorkers: newOtherWorkers(db),
      simulatorUrl: companion?.url ?? null,
      simulatorPhone: companion?.phone ?? null,
    }
    let work: Work | null = startWork(runtime)
    /** Why this process takes no work. */
    const pauses = new Map<'clock' | 'schema', string>()
    const stopWork = async () => {
      const current = work
      work = null
      await current?.stop()
    }
    const pauseWork = async (cause: 'clock' | 'schema', reason: string) => {
      pauses.set(cause, reason)
      await stopWork()
    }
    const resumeWork = (cause: 'clock' | 'schema') => {
      const isOnlyPause = [...pauses.keys()].every((each) => each === cause)
      if (isOnlyPause && !stopping) work ??= startWork(runtime)
      // Only now: a process whose work could not start is not ready.
      pauses.delete(cause)
    }
    undo.push(() => within(stopLimits.workMs, 'the background work', stopWork()))
    const checkClock = newClockCheck(clock, db, log, {
      onApart: () => pauseWork('clock', 'The clock of this machine is wrong.'),
      onAgree: async () => resumeWork('clock'),
    })
    const checkSchema = newSchemaCheck(db, log, programVersion(), {
      onUnusable: (reason) => pauseWork('schema', reason),
      onUsable: async () => resumeWork('schema'),
    })
    const watch = startLoop({ db, log }, 'clock and schema', watchMs, async () => {
      await checkClock()
      await checkSchema()
    })
    undo.push(() => within(stopLimits.otherMs, 'the watch', watch.stop()))
    const whyNotReady = async () => {
      if (stopping) return 'The process is stopping.'
      const [reason = null] = pauses.values()
      if (reason !== null) return reason
      const isFull = config.databaseUrl === null && freeBytes(config.dataDir) < minFreeBytes
      return isFull ? `The disk with ${config.dataDir} is full.` : whyNotWritable(db)
    }
    const api = await buildApi(runtime, { whyNotReady, hasUsableSchema: () => !pauses.has('schema') })
    undo.push(() => within(stopLimits.logsMs, 'writing the logs', api.flush()))
    signal?.throwIfAborted()
    await listen(api.app, config)
    undo.push(async () => {
      // Together: other processes wait for the leases of this one, however long a request takes.
      const working = within(stopLimits.workMs, 'the background work', stopWork())
      const closed = await Promise.allSettled([closeWithin(stopLimits.requestsMs, api.app), working])
      for (const each of closed) if (each.status === 'rejected') throw each.reason
    })
    const { address, port } = api.app.server.address() as AddressInfo
    return {
      url: `http://${address.includes(':') ? `[${address}]` : address}:${port}`,
      runtime,
      async advance(ms) {
        clock.advance(ms)
        await ensureToday(db, clock)
        // Each part looks for due work when it starts.
        await stopWork()
        if (pauses.size === 0 && !stopping) work ??= startWork(runtime)
      },
      isIdle: () => isIdle(db, clock.now()),
      async stop() {
        stopping = true
        await unwind()
      },
    }
  } catch (error) {
    await unwind()
    throw error
  }
}

/** Loads what it needs only if it is used. Returns how to stop it. */
async function startTracing(settings: TracingSettings, db: Db, log: Logger): Promise<() => Promise<void>> {
  const { openTracing } = await import('./telemetry/open-tracing.ts')
  const { newFindTraceparent } = await import('./domain/messages/reading/messages.ts')
  const findTraceparent = newFindTraceparent(db)
  const { tracing, stop } = openTracing(settings, { version, metrics: db.telemetry.metrics, log, findTraceparent })
  db.telemetry.tracing = tracing
  return () => stop(usualStopLimits.otherMs)
}

async function listen(app: Awaited<ReturnType<typeof buildApi>>['app'], { host, port }: Config): Promise<void> {
  try {
    // For the name, Fastify starts a second server for its other address, without our limits.
    await app.listen({ host: host === 'localhost' ? (await lookup(host)).address : host, port })
  } catch (error) {
    explainListenError(error as NodeJS.ErrnoException, host, port)
  }
}

function freePort({ host }: Config): Promise<number> {
  const probe = createServer()
  return new Promise<number>((resolve, reject) => {
    probe.once('error', reject).listen(0, host, () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  }).catch((error) => explainListenError(error, host, 0))
}

class PortTaken extends StartupError {}

function explainListenError(error: NodeJS.ErrnoException, host: string, port: number): never {
  const { code } = error
  if (code === 'EADDRINUSE')
    throw new PortTaken(
      `Port ${port} on ${host} is already in use. Stop the program that uses it, or set PORT to another port.`,
    )
  if (code === 'EACCES')
    throw new StartupError(`This user is not allowed to listen on port ${port}. Set PORT to 1024 or higher.`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EINVAL') {
    throw new StartupError(
      `Cannot listen on HOST "${host}": it is not an address of this machine. Use 127.0.0.1 for this machine only, or 0.0.0.0 for all interfaces.`,
    )
  }
  throw error
}

/** Lets running requests finish for up to `ms`, then closes their connections. */
async function closeWithin(ms: number, app: Awaited<ReturnType<typeof buildApi>>['app']): Promise<void> {
  // A keep-alive connection becomes idle when its response is sent, and Fastify does not close it then.
  const sweep = setInterval(() => app.server.closeIdleConnections(), 50)
  const cut = setTimeout(() => app.server.closeAllConnections(), ms)
  await app.close()
  clearInterval(sweep)
  clearTimeout(cut)
}

/** Fails if a step of stopping takes too long. It continues, but nothing waits for it. */
async function within(ms: number, name: string, step: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} did not stop within ${ms / 1000} seconds`)), ms)
  })
  await Promise.race([step, limit]).finally(() => clearTimeout(timer))
}

function whyNotWritable(db: Runtime['db']): Promise<string | null> {
  return Promise.race([db.whyNotWritable(), sleep(2_000, notResponding, { ref: false })])
}
