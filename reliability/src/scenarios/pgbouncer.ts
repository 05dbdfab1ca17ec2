// Two processes behind a real pgbouncer in transaction mode with three connections to PostgreSQL. Many workspaces list
// their own rows at once: a statement that ran with the workspace of another request would find none.
import { setTimeout as sleep } from 'node:timers/promises'
import { scopes } from '@parley/contract/scopes'
import { openDatabase } from '@parley/server/db/db'
import { openEmbedded } from '@parley/server/db/embedded/embedded'
import { migrate } from '@parley/server/db/migrate/migrate'
import { createKey } from '@parley/server/domain/keys/keys'
import { createWebhook } from '@parley/server/domain/webhooks/webhooks'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import pg from 'pg'
import { newFolder, removeFolder } from '../../../server/testing/data-dir.ts'
import { findPgbouncer, type Pgbouncer, startPgbouncer } from '../../../server/testing/pgbouncer.ts'
import { type ServiceProcess, secretKeys, spawnService, urlOf } from '../../../server/testing/service.ts'

const serverConnections = 3
const workspaces = 30
/** Requests in progress at each process. */
const parallel = 20
const loadMs = 10_000

export const scenario = {
  name: 'pgbouncer',
  wanted: 'every request sees the rows of its own workspace, none gets 5xx, three connections serve both processes',
  async run(say: (line: string) => void): Promise<{ figure: string; ok: boolean }> {
    const program = findPgbouncer()
    if ('missing' in program) return { figure: `skipped: ${program.missing}`, ok: true }
    const dataDir = newFolder('parley-reliability-')
    const embedded = await openEmbedded({ dataDir, purpose: 'visitor' })
    const services: ServiceProcess[] = []
    let pooler: Pgbouncer | undefined
    const admin = new pg.Client(embedded.admin)
    try {
      await migrate(embedded.connection)
      const keys = await createKeys(embedded.connection)
      pooler = await startPgbouncer(program, embedded.connection, serverConnections)
      const env = {
        DATABASE_URL: urlOf(pooler.connection),
        PARLEY_DATABASE_DIRECT_URL: urlOf(embedded.connection),
      }
      await Promise.all([1, 2].map(async () => void services.push(await spawnService(embedded.connection, env))))
      say('two processes run behind pgbouncer')
      await admin.connect()
      let [right, wrong, failed, next, most] = [0, 0, 0, 0, 0]
      const end = Date.now() + loadMs
      const use = async ({ url }: ServiceProcess) => {
        while (Date.now() < end) {
          const index = next++ % keys.length
          const headers = { authorization: `Bearer ${keys[index]}` }
          const response = await fetch(`${url}/v1/webhook`, { headers })
          const body = (await response.json()) as { data?: { name: string }[] }
          if (response.status >= 500) failed++
          else if (response.status === 200) {
            const names = body.data?.map(({ name }) => name).join()
            if (names === `endpoint ${Math.floor(index / keysPerWorkspace)}`) right++
            else wrong++
          }
        }
      }
      const load = services.flatMap((service) => Array.from({ length: parallel }, () => use(service)))
      while (Date.now() < end) {
        const { rows } = await admin.query<{ count: number }>(
          `select count(*)::int from pg_stat_activity where backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid()`,
        )
        most = Math.max(most, rows[0]?.count ?? 0)
        await sleep(200)
      }
      await Promise.all(load)
      return {
        figure: `${right} lists with the own rows, ${wrong} with others or none, ${failed} with 5xx; at most ${most} connections busy`,
        ok: right > 0 && wrong === 0 && failed === 0,
      }
    } finally {
      await Promise.all(services.map((service) => service.stop()))
      await admin.end().catch(() => {})
      await pooler?.stop()
      await embedded.close()
      removeFolder(dataDir)
    }
  },
}

const keysPerWorkspace = 8

async function createKeys(connection: Parameters<typeof openDatabase>[0]): Promise<string[]> {
  const db = openDatabase(connection, () => {}, 2)
  const rules = { allowHttp: true, allowRanges: [], resolve: async () => [] }
  const secrets: string[] = []
  for (let w = 0; w < workspaces; w++) {
    const { id: workspaceId } = await createWorkspace(db, systemClock, `workspace ${w}`)
    const endpoint = { workspaceId, name: `endpoint ${w}`, url: 'http://localhost:9/', events: ['message.sent'] }
    await createWebhook(db, systemClock, secretKeys, rules, endpoint)
    for (let k = 0; k < keysPerWorkspace; k++) {
      const input = { workspaceId, name: `key ${k}`, scopes, rateLimitPerMin: 100, createdBy: 'reliability' }
      secrets.push((await createKey(db, systemClock, input)).secret)
    }
  }
  await db.close()
  return secrets
}
