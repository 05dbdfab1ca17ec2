// Four processes share a PostgreSQL that allows 60 connections. The fourth starts while the others are under load.
import { setTimeout as sleep } from 'node:timers/promises'
import { scopes } from '@parley/contract/scopes'
import { openDatabase } from '@parley/server/db/db'
import { openEmbedded } from '@parley/server/db/embedded/embedded'
import { migrate } from '@parley/server/db/migrate/migrate'
import { createKey } from '@parley/server/domain/keys/keys'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import pg from 'pg'
import { newFolder, removeFolder } from '../../../server/testing/data-dir.ts'
import { type ServiceProcess, spawnService } from '../../../server/testing/service.ts'

const maxConnections = 60
const workspaces = 12
const keysPerWorkspace = 10
/** Requests in progress at each process. */
const parallel = 40
/** After the fourth process has started. */
const loadMs = 10_000

export const scenario = {
  name: 'four-processes-60-connections',
  wanted: 'no request gets 503 or 5xx, the fourth process starts under load, at most 57 connections are open',
  async run(say: (line: string) => void): Promise<{ figure: string; ok: boolean }> {
    const dataDir = newFolder('parley-reliability-')
    const embedded = await openEmbedded({
      dataDir,
      purpose: 'visitor',
      settings: { max_connections: String(maxConnections) },
    })
    const services: ServiceProcess[] = []
    const admin = new pg.Client(embedded.admin)
    try {
      await migrate(embedded.connection)
      const keys = await createKeys(embedded.connection)
      await admin.connect()
      const statuses = new Map<number, number>()
      let isOver = false
      let next = 0
      const use = async (service: ServiceProcess) => {
        while (!isOver) {
          const path = next % 3 === 0 ? '/v1/messages' : next % 3 === 1 ? '/v1/webhook' : '/v1/me'
          const headers = { authorization: `Bearer ${keys[next++ % keys.length]}` }
          const response = await fetch(service.url + path, { headers })
          await response.arrayBuffer()
          statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
        }
      }
      const start = async () => {
        const service = await spawnService(embedded.connection, { LOG_LEVEL: 'warn' })
        services.push(service)
        return Array.from({ length: parallel }, () => use(service))
      }
      const load = (await Promise.all([start(), start(), start()])).flat()
      say('three processes are under load; the fourth starts')
      const before = Date.now()
      load.push(...(await start()))
      const startedMs = Date.now() - before
      let most = 0
      for (const end = Date.now() + loadMs; Date.now() < end; ) {
        const { rows } = await admin.query<{ count: number }>(
          `select count(*)::int from pg_stat_activity where backend_type = 'client backend'`,
        )
        most = Math.max(most, rows[0]?.count ?? 0)
        await sleep(250)
      }
      isOver = true
      await Promise.all(load)
      for (const service of services) if (/"level":[4-6]0/.test(service.output())) say(service.output().slice(0, 1000))
      const failed = [...statuses].filter(([status]) => status >= 500).reduce((sum, [, count]) => sum + count, 0)
      const total = [...statuses.values()].reduce((sum, count) => sum + count, 0)
      return {
        figure: `${total} requests, ${failed} with 5xx; the fourth started in ${(startedMs / 1000).toFixed(1)} s; at most ${most} connections`,
        ok: failed === 0 && (statuses.get(200) ?? 0) > 0 && most <= maxConnections - 3,
      }
    } finally {
      await Promise.all(services.map((service) => service.stop()))
      await admin.end().catch(() => {})
      await embedded.close()
      removeFolder(dataDir)
    }
  },
}

async function createKeys(connection: Parameters<typeof openDatabase>[0]): Promise<string[]> {
  const db = openDatabase(connection, () => {}, 2)
  const secrets: string[] = []
  for (let w = 0; w < workspaces; w++) {
    const { id: workspaceId } = await createWorkspace(db, systemClock, `workspace ${w}`)
    for (let k = 0; k < keysPerWorkspace; k++) {
      const input = { workspaceId, name: `key ${k}`, scopes, rateLimitPerMin: 100, createdBy: 'reliability' }
      secrets.push((await createKey(db, systemClock, input)).secret)
    }
  }
  await db.close()
  return secrets
}
