// Two processes are frozen after PostgreSQL has counted their requests and before they know, until the window has ended; the
// monotonic clock of one of them stops, as on a suspended machine. A third uses the next window.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { scopes } from '@parley/contract/scopes'
import type { Database } from '@parley/server/db/db'
import { createKey } from '@parley/server/domain/keys/keys'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import pg from 'pg'
import { callApi } from '../../../server/testing/call.ts'
import { type ServiceProcess, spawnService } from '../../../server/testing/service.ts'
import { until } from '../../../server/testing/until.ts'
import { openPostgres } from '../lib/postgres.ts'
import type { Scenario } from '../lib/scenario.ts'

const testing = join(import.meta.dirname, '..', '..', '..', 'server', 'testing')
const suspendedClock = pathToFileURL(join(testing, 'suspended-clock.ts')).href

async function newKey(db: Database) {
  const { id: workspaceId } = await createWorkspace(db, systemClock, 'Shop')
  const input = { workspaceId, name: 'shop', scopes, rateLimitPerMin: 30, createdBy: 'reliability' }
  const { key, secret } = await createKey(db, systemClock, input)
  return { subject: `k:${key.id}`, secret }
}

/** Sends concurrent requests, and returns how many passed. */
async function send({ url }: ServiceProcess, key: string, count: number): Promise<number> {
  const statuses = await Promise.all(
    Array.from({ length: count }, async () => (await callApi(`${url}/v1/me`, { key })).status),
  )
  return statuses.filter((status) => status === 200).length
}

export const scenario: Scenario = {
  name: 'frozen-rate-limits',
  wanted: 'after a freeze, a process lets no request pass that was counted in an earlier window',
  async run(say) {
    const postgres = await openPostgres()
    const { db, connection } = postgres
    const services: ServiceProcess[] = []
    const start = async (env: Record<string, string> = {}) => {
      const service = await spawnService(connection, { LOG_LEVEL: 'silent', ...env })
      services.push(service)
      return service
    }
    const client = new pg.Client(connection)
    try {
      const frozen = [await start(), await start({ NODE_OPTIONS: `--import ${suspendedClock}` })]
      const other = await start()
      const pairs = await Promise.all(frozen.map(async (service) => ({ service, ...(await newKey(db)) })))
      const subjects = pairs.map(({ subject }) => subject)
      for (const { service, secret } of pairs) await send(service, secret, 1)
      // The windows end in ten seconds, as the clock of the database shows.
      await db.change(
        `update budget_windows set opened_at = clock_timestamp() - interval '50 seconds' where subject = any($1)`,
        [subjects],
      )
      await client.connect()
      await client.query('begin')
      await client.query('select from budget_windows where subject = any($1) order by subject for update', [subjects])
      const held = pairs.map(({ service, secret }) => send(service, secret, 20))
      const waiting = `select count(*)::int as count from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`
      await until('the statements wait', async () => (await client.query(waiting)).rows[0].count === 2)
      for (const { child } of frozen) child.kill('SIGSTOP')
      await client.query('commit')
      say('counted; both processes are frozen')
      await sleep(17_000)
      const next = await Promise.all(pairs.map(({ secret }) => send(other, secret, 40)))
      for (const { child } of frozen) child.kill('SIGCONT')
      const late = await Promise.all(held)
      const more = await Promise.all(pairs.map(({ service, secret }) => send(service, secret, 5)))
      return {
        figure: `frozen and suspended: ${late.join(' and ')} of 20 late requests passed; with a limit of 30, ${next.join(' and ')} of the next window`,
        ok: [...late, ...more].every((passed) => passed === 0) && next.every((passed) => passed === 30),
      }
    } finally {
      await client.end()
      for (const { child } of services) child.kill('SIGKILL')
      await postgres.close()
    }
  },
}
