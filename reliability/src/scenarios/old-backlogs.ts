// Six endpoints have a backlog of 200,000 deliveries each: how soon do the first deliveries of a new endpoint begin? And how
// long does a claim take while 10,000 endpoints have deliveries that wait? Takes about two minutes. With ten million rows:
//   node -e "import('./reliability/src/scenarios/old-backlogs.ts').then(({ claimTimes }) => claimTimes(1_000, console.log))"
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, openDatabase } from '@parley/server/db/db'
import { openEmbedded } from '@parley/server/db/embedded/embedded'
import { migrate } from '@parley/server/db/migrate/migrate'
import { ensurePartitions } from '@parley/server/db/partitions'
import { claimInTurn } from '@parley/server/domain/deliveries/engine/claim/claims'
import { publish } from '@parley/server/domain/deliveries/engine/publish/publish'
import { systemClock } from '@parley/server/lib/clock'
import { newUuid } from '@parley/server/lib/ids'
import { newFolder, removeFolder } from '../../../server/testing/data-dir.ts'
import { spawnService } from '../../../server/testing/service.ts'
import { countingReceiver, localReceivers, newTenant } from '../../../server/testing/tenants.ts'

const oldEndpoints = 6
const backlog = 200_000
/** Of each endpoint, only the oldest deliveries have events: more than are attempted while this runs. */
const withEvents = 20_000
const limitMs = 2_000
const claimLimitMs = 20

async function withDatabase<T>(
  use: (db: Database, connection: Parameters<typeof spawnService>[0]) => Promise<T>,
): Promise<T> {
  const dataDir = newFolder('parley-backlogs-')
  const embedded = await openEmbedded({ dataDir, purpose: 'visitor' })
  try {
    await migrate(embedded.connection)
    const db = openDatabase(embedded.connection, () => {}, 1)
    await ensurePartitions(db, systemClock)
    const result = await use(db, embedded.connection)
    await db.close()
    return result
  } finally {
    await embedded.close()
    removeFolder(dataDir)
  }
}

/** How long the ten first deliveries of a new endpoint take to begin, in milliseconds. */
const newEndpoint = (say: (line: string) => void): Promise<number[]> =>
  withDatabase(async (db, connection) => {
    const old = await countingReceiver()
    for (let index = 0; index < oldEndpoints; index++) {
      const { workspaceId, webhookId } = await newTenant(db, `old ${index}`, old.url)
      await db.change(
        `with row as (
           select n, now() - interval '1 hour' + n * interval '1 ms' as at, gen_random_uuid() as id
           from generate_series(1, $3::int) as n
         ), event as (
           insert into events (id, workspace_id, type, body, created_at)
           select id, $2, 'message.received', '{"data":{}}', at from row where n <= $4
         )
         insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, due_at)
         select id, $1, $2, at, at from row`,
        [webhookId.slice(4), workspaceId, backlog, withEvents],
      )
      await db.change(`insert into endpoint_visits (webhook_id, workspace_id, visit_at) values ($1, $2, now())`, [
        webhookId.slice(4),
        workspaceId,
      ])
    }
    await db.change('analyze')
    say(`${oldEndpoints} endpoints with ${backlog} deliveries each`)
    const service = await spawnService(connection, localReceivers)
    while (old.arrivedMs.size < 200) await sleep(50)
    say('the old deliveries are being delivered')
    const fresh = await countingReceiver()
    const { workspaceId } = await newTenant(db, 'new', fresh.url)
    const startedMs = performance.now()
    // This process delivers nothing: the service has to claim them.
    await db.transaction((tx) =>
      publish(
        tx,
        systemClock.now(),
        Array.from({ length: 10 }, () => ({ workspaceId, type: 'message.received' as const, data: {} })),
      ),
    )
    while (fresh.arrivedMs.size < 10 && performance.now() < startedMs + 60_000) await sleep(5)
    const tookMs = [...fresh.arrivedMs.values()].map((at) => at - startedMs)
    await service.stop()
    for (const each of [old, fresh]) each.close()
    return tookMs
  })

const endpoints = 10_000
const claims = 100

/**
 * How long PostgreSQL works on a claim, as p50 in milliseconds, while 10,000 endpoints of 100 workspaces have `rowsEach`
 * deliveries that are due. On Linux only. Unlike the duration, it is the same on a busy machine.
 */
export const claimTimes = (rowsEach: number, say: (line: string) => void): Promise<number> =>
  withDatabase(async (db) => {
    await db.change(
      `insert into workspaces (id, name, created_at) select md5('w' || n)::uuid, 'many', now() from generate_series(1, 100) as n`,
    )
    await db.change(
      `insert into webhooks (id, workspace_id, name, url, secret_sealed, secret_hint, events, created_at)
       select md5('e' || n)::uuid, md5('w' || 1 + n % 100)::uuid, 'many', 'http://127.0.0.1:9', '', '', '{}', now()
       from generate_series(1, ${endpoints}) as n`,
    )
    // Without its indexes while it is filled: with ten million rows this takes minutes less.
    await db.change('drop index deliveries_to_claim')
    await db.change('drop index deliveries_manual')
    await db.change('alter table deliveries drop constraint deliveries_pkey')
    await db.change(
      `insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, due_at)
       select gen_random_uuid(), md5('e' || n)::uuid, md5('w' || 1 + n % 100)::uuid, now(), now() - row * interval '1 s'
       from generate_series(1, $1::int) as row, generate_series(1, ${endpoints}) as n`,
      [rowsEach],
    )
    await db.change('alter table deliveries add primary key (webhook_id, event_id)')
    await db.change(`create index deliveries_to_claim on deliveries (webhook_id, due_at) where due_at < 'infinity'`)
    await db.change(`create index deliveries_manual on deliveries (webhook_id, due_at) where trigger = 'manual'`)
    await db.change(
      `insert into endpoint_visits (webhook_id, workspace_id, visit_at)
       select md5('e' || n)::uuid, md5('w' || 1 + n % 100)::uuid, now() from generate_series(1, ${endpoints}) as n`,
    )
    await db.change('analyze')
    say(`${endpoints} endpoints with ${rowsEach} deliveries each`)
    const pid = (await db.first<{ pid: number }>('select pg_backend_pid() as pid'))?.pid
    const cpuMs = () => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
    const times: number[] = []
    const cpuTimes: number[] = []
    let claimed = 0
    for (let index = 0; index < claims; index++) {
      const now = new Date()
      const [startedMs, startedCpuMs] = [performance.now(), cpuMs()]
      const input = { now, lease: newUuid(), leaseUntil: new Date(now.getTime() + 3_600_000), except: [] }
      claimed += (await claimInTurn(db, { ...input, capacityOf: () => 500 })).rows.length
      times.push(performance.now() - startedMs)
      cpuTimes.push(cpuMs() - startedCpuMs)
    }
    const at = (share: number, of: number[]) =>
      of.sort((one, other) => one - other)[Math.floor(of.length * share)] ?? Number.NaN
    const cpu = at(0.5, cpuTimes)
    say(
      `a claim of ${claimed / claims} deliveries: p50 ${at(0.5, times).toFixed(1)} ms, p99 ${at(0.99, times).toFixed(1)} ms`,
    )
    say(`of that PostgreSQL worked ${cpu.toFixed(1)} ms (p50)`)
    return cpu
  })

async function run(say: (line: string) => void): Promise<{ figure: string; ok: boolean }> {
  const tookMs = await newEndpoint(say)
  const last = Math.max(...tookMs)
  const claimMs = await claimTimes(50, say)
  const figure = `${tookMs.length} of 10 deliveries of a new endpoint have begun, the last after ${last.toFixed(0)} ms; PostgreSQL works ${claimMs.toFixed(1)} ms on a claim (p50)`
  return { figure, ok: tookMs.length === 10 && last < limitMs && claimMs < claimLimitMs }
}

export const scenario = {
  name: 'old-backlogs',
  wanted: `with old backlogs of others, ten deliveries of a new endpoint begin within 2 s; PostgreSQL works less than ${claimLimitMs} ms on a claim`,
  run,
}
