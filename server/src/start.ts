import { type AddressInfo, createServer } from 'node:net'
import { buildApi } from './api.ts'
import { type Config, onPort, version } from './config.ts'
import { openDatabaseClock, watchClock } from './db/database-clock.ts'
import { ensureToday } from './db/partitions.ts'
import { openStore } from './db/store.ts'
import { newNetwork } from './domain/connections/network.ts'
import { type Logger, newLogger } from './lib/logger.ts'
import { StartupError } from './lib/refuse.ts'
import type { Runtime } from './runtime.ts'
import { GraphClient } from './whatsapp/client.ts'
import { startWork, type Work } from './work.ts'

export interface Service {
  /** Where it listens. */
  url: string
  runtime: Runtime
  stop(): Promise<void>
}

export interface ServiceOptions {
  config: Config
  log?: Logger
  say?: (line: string) => void
  /** Gives up starting, and undoes what was started. */
  signal?: AbortSignal
  /** Starts what runs beside the service, once the database is ours and before anything might call on it. */
  beside?: (() => Promise<{ url: string; stop(): Promise<void> }>) | undefined
}

/** Opens the database, starts the http server and the loops; `stop` ends them in reverse. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config } = options
  if (config.port !== 0) return startOnPort(options)
  for (let tries = 1; ; tries++) {
    try {
      // Found before anything is built: links and error answers name it.
      return await startOnPort({ ...options, config: onPort(config, await freePort(config)) })
    } catch (error) {
      // Somebody else was given the same one in between.
      if (!(error instanceof PortTaken) || tries === 3) throw error
    }
  }
}

async function startOnPort(options: ServiceOptions): Promise<Service> {
  const { config, log = newLogger(config.logLevel), say = () => {}, signal, beside } = options
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
      // One that fails must not keep the others from being done; the last of them stops PostgreSQL.
      await step().catch((error: unknown) =>
        log.warn({ event: 'service.stop_failed', err: error }, 'a step of stopping failed'),
      )
    }
  }
  try {
    let stopping = false
    const { db } = store
    const clock = await openDatabaseClock(db)
    await ensureToday(db, clock)
    const companion = await beside?.()
    if (companion) undo.push(() => companion.stop())
    const client = new GraphClient({ productVersion: version })
    undo.push(() => Promise.race([client.close(), pause(1000)]))
    const network = newNetwork({ db, clock, secretKeys: config.secretKeys(), client })
    const runtime: Runtime = { config, log, db, clock, network, simulatorUrl: companion?.url ?? null }
    let work: Work | null = startWork(runtime)
    const stopWork = async () => {
      const current = work
      work = null
      await current?.stop()
    }
    undo.push(stopWork)
    const watch = watchClock(clock, db, log, {
      onApart: stopWork,
      onAgree: async () => {
        work ??= startWork(runtime)
      },
    })
    undo.push(() => watch.stop())
    const isReady = async () => !stopping && work !== null && (await responses(db))
    const api = await buildApi(runtime, { isReady })
    undo.push(() => api.flush())
    signal?.throwIfAborted()
    await listen(api.app, config)
    undo.push(() => closeWithin(8_000, api.app))
    const { address, port } = api.app.server.address() as AddressInfo
    return {
      url: `http://${address.includes(':') ? `[${address}]` : address}:${port}`,
      runtime,
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

async function listen(app: Awaited<ReturnType<typeof buildApi>>['app'], { host, port }: Config): Promise<void> {
  await app.listen({ host, port }).catch((error) => refusePlace(error, host, port))
}

function freePort({ host }: Config): Promise<number> {
  const probe = createServer()
  return new Promise<number>((resolve, reject) => {
    probe.once('error', reject).listen(0, host, () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  }).catch((error) => refusePlace(error, host, 0))
}

class PortTaken extends StartupError {}

function refusePlace(error: NodeJS.ErrnoException, host: string, port: number): never {
  const { code } = error
  if (code === 'EADDRINUSE') throw new PortTaken(`Port ${port} on ${host} is in use. Set PORT to a free one.`)
  if (code === 'EACCES')
    throw new StartupError(`Port ${port} may not be used by this user. Set PORT to one above 1023.`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EINVAL') {
    throw new StartupError(`HOST is "${host}", but that is not an address of this machine.`)
  }
  throw error
}

/** Lets requests under way finish, then cuts those that do not. */
async function closeWithin(ms: number, app: Awaited<ReturnType<typeof buildApi>>['app']): Promise<void> {
  // A connection that is kept alive falls idle when its request is answered; nobody else would close it then.
  const sweep = setInterval(() => app.server.closeIdleConnections(), 50)
  const cut = setTimeout(() => app.server.closeAllConnections(), ms)
  await app.close()
  clearInterval(sweep)
  clearTimeout(cut)
}

async function responses(db: Runtime['db']): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(resolve, 2000, false).unref())
  const asked = db.first('select 1 as one').then(
    (row) => row !== undefined,
    () => false,
  )
  return Promise.race([asked, late])
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref())
