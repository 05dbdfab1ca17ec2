// Two processes share a key with a limit of 30. One of them loses its connections while the other works and a third starts: they
// are cut, go silent, or are cut after PostgreSQL has counted. Then PostgreSQL crashes, and a standby without the counts takes over.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { scopes } from '@parley/contract/scopes'
import { type Database, openDatabase } from '@parley/server/db/db'
import { type Embedded, openEmbedded } from '@parley/server/db/embedded/embedded'
import { migrate } from '@parley/server/db/migrate/migrate'
import { createKey } from '@parley/server/domain/keys/keys'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import pg from 'pg'
import { copyDataDir, newFolder, removeFolder } from '../../../server/testing/data-dir.ts'
import { openDatabaseProxy } from '../../../server/testing/open-database-proxy.ts'
import { type ServiceProcess, spawnService } from '../../../server/testing/service.ts'

const rateLimitPerMin = 30

export const scenario = {
  name: 'rate-limits-session-lost',
  wanted: 'with a limit of 30, 30 requests pass in a window; after a crash or failover of PostgreSQL it starts again',
  async run(say: (line: string) => void): Promise<{ figure: string; ok: boolean }> {
    const folder = newFolder('parley-reliability-')
    const undo: (() => unknown)[] = [() => removeFolder(folder)]
    try {
      const { primary, standby } = await startCluster(folder, undo)
      const db = openDatabase(primary.connection, () => {}, 2)
      undo.push(() => db.close())
      const proxies = [await openDatabaseProxy(primary.connection), await openDatabaseProxy(standby.connection)]
      undo.push(...proxies.map((each) => each.close))
      const [proxy] = proxies as [(typeof proxies)[0]]
      const { user, password, database } = primary.connection
      const hosts = proxies.map(({ connection }) => `127.0.0.1:${connection.port}`).join()
      const env = { LOG_LEVEL: 'silent', DATABASE_URL: `postgresql://${user}:${password}@${hosts}/${database}` }
      const services: ServiceProcess[] = []
      const start = async () => void services.push(await spawnService(primary.connection, env))
      undo.push(() => Promise.all(services.map(({ child }) => child.kill('SIGKILL'))))
      await Promise.all([start(), start()])
      const figures: string[] = []
      let isOk = true
      /** Sends requests all the time, while and after the fault happens. */
      const measure = async (name: string, fault: () => unknown, most = rateLimitPerMin) => {
        const key = await newKey(db)
        const began = Date.now()
        const passed = await send(services, key, 10)
        const during = send(services, key, 40)
        await fault()
        let sum = passed + (await during)
        // Until every process has a connection again, but not into the next window.
        for (let round = 0; round < 40 && Date.now() - began < 40_000; round++) {
          sum += await send(services, key, 6)
          await sleep(250)
          if (round > 4 && (await Promise.all(services.map(isReady))).every(Boolean)) break
        }
        sum += await send(services, key, 40)
        const isOver = Date.now() - began > 58_000
        figures.push(`${name} ${sum}${isOver ? ' (too slow to tell)' : ''}`)
        isOk &&= sum <= most || isOver
        say(`${name}: ${sum} of ${rateLimitPerMin} passed`)
      }
      await measure('cut', async () => {
        proxy.cut()
        const starting = start()
        await sleep(500)
        proxy.restore()
        await starting
      })
      await measure('cut while counting', async () => {
        proxy.hang()
        await sleep(50)
        proxy.cut()
        proxy.restore()
      })
      await measure('silent', () => proxy.silence())
      await measure(
        'crash',
        async () => {
          const row = await db.first<{ pid: number }>('select pg_backend_pid() as pid')
          if (row) process.kill(row.pid, 'SIGKILL')
          await sleep(1_000)
        },
        2 * rateLimitPerMin,
      )
      await measure(
        'failover',
        async () => {
          await asAdmin(primary, 'alter system set default_transaction_read_only = on', 'select pg_reload_conf()')
          await asAdmin(standby, 'select pg_promote()')
        },
        2 * rateLimitPerMin,
      )
      return { figure: `passed with a limit of ${rateLimitPerMin}: ${figures.join(', ')}`, ok: isOk }
    } finally {
      for (const step of undo.reverse()) await step()
    }
  },
}

/** A primary server and a standby that confirms every transaction. */
async function startCluster(folder: string, undo: (() => unknown)[]) {
  const settings = { shared_buffers: '32MB' }
  const first = join(folder, 'first')
  const empty = await openEmbedded({ dataDir: first, purpose: 'visitor', settings })
  await migrate(empty.connection)
  await empty.close()
  const second = copyDataDir(first, join(folder, 'second'))
  writeFileSync(join(second, 'postgres', 'standby.signal'), '')
  const primary = await openEmbedded({
    dataDir: first,
    purpose: 'visitor',
    settings: { ...settings, synchronous_standby_names: '*' },
  })
  undo.push(() => primary.close())
  const { host, port, user, password } = primary.admin
  const standby = await openEmbedded({
    dataDir: second,
    purpose: 'visitor',
    settings: {
      ...settings,
      primary_conninfo: `host='${host}' port=${port} user=${user} password=${password}`,
    },
  })
  undo.push(() => standby.close())
  return { primary, standby }
}

async function asAdmin({ admin }: Embedded, ...statements: string[]): Promise<void> {
  const client = new pg.Client(admin)
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

async function newKey(db: Database): Promise<string> {
  const { id: workspaceId } = await createWorkspace(db, systemClock, 'Shop')
  const input = { workspaceId, name: 'shop', scopes, rateLimitPerMin, createdBy: 'reliability' }
  return (await createKey(db, systemClock, input)).secret
}

/** Sends concurrent requests, spread over the processes, and returns how many passed. */
async function send(services: readonly ServiceProcess[], key: string, count: number): Promise<number> {
  const statuses = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const headers = { authorization: `Bearer ${key}` }
      const response = await fetch(`${services[index % services.length]?.url}/v1/me`, { headers }).catch(() => null)
      await response?.arrayBuffer()
      return response?.status
    }),
  )
  return statuses.filter((status) => status === 200).length
}

const isReady = async ({ url }: ServiceProcess): Promise<boolean> => (await fetch(`${url}/readyz`)).status === 200
