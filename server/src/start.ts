import type { AddressInfo } from 'node:net'
import { buildApi } from './api.ts'
import type { Config } from './config.ts'
import { openStore, type Store } from './db/store.ts'
import { sweepWindows } from './domain/keys/admission.sql.ts'
import { turnPages } from './domain/requests/requests.sql.ts'
import { type Clock, systemClock } from './lib/clock.ts'
import { type Logger, newLogger } from './lib/logger.ts'
import { type Loop, startLoop } from './lib/loop.ts'
import { Unfit } from './lib/refuse.ts'

export interface Service {
  /** Where it listens. */
  url: string
  store: Store
  stop(): Promise<void>
}

export interface ServiceOptions {
  config: Config
  clock?: Clock
  log?: Logger
  say?: (line: string) => void
}

/** Opens the database, starts the http server and the loops; `stop` ends them in reverse. */
export async function startService({
  config,
  clock = systemClock,
  log,
  say = () => {},
}: ServiceOptions): Promise<Service> {
  const logger = log ?? newLogger(config.logLevel)
  const store = await openStore(config, { purpose: 'service', say, log: logger })
  const undo: (() => Promise<void>)[] = [() => store.close()]
  const unwind = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    let stopping = false
    const { db } = store
    const today = () => clock.now()
    await turnPages(db, today(), config.retentionDays)
    const loops: Loop[] = [
      startLoop('partitions', logger, 3_600_000, () => turnPages(db, today(), config.retentionDays)),
      startLoop('budget windows', logger, 60_000, async () => void (await sweepWindows(db, clock.pinned()))),
    ]
    undo.push(async () => void (await Promise.all(loops.map((loop) => loop.stop()))))
    const api = await buildApi({
      db,
      clock,
      log: logger,
      config,
      isReady: async () => !stopping && (await answers(db)),
    })
    undo.push(() => api.flush())
    await listen(api.app, config)
    undo.push(() => closeWithin(10_000, api.app))
    const { address, port } = api.app.server.address() as AddressInfo
    return {
      url: `http://${address.includes(':') ? `[${address}]` : address}:${port}`,
      store,
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
  try {
    await app.listen({ host, port })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new Unfit(`Port ${port} on ${host} is in use. Set PORT to a free one.`)
    if (code === 'EACCES') throw new Unfit(`Port ${port} may not be used by this user. Set PORT to one above 1023.`)
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new Unfit(`HOST is "${host}", but that is not an address of this machine.`)
    }
    throw error
  }
}

/** Lets requests under way finish, then cuts those that do not. */
async function closeWithin(ms: number, app: Awaited<ReturnType<typeof buildApi>>['app']): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), ms)
  await app.close()
  clearTimeout(timer)
}

async function answers(db: Store['db']): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(resolve, 2000, false).unref())
  const asked = db.first('select 1 as one').then(
    (row) => row !== undefined,
    () => false,
  )
  return Promise.race([asked, late])
}
