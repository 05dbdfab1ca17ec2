import type { Db } from '@parley/server/db/db'
import { claimInTurn } from '@parley/server/domain/deliveries/engine/claim/claims'
import { newUuid } from '@parley/server/lib/ids'
import type { Scope } from './lib/scope.ts'
import { percentile } from './lib/statistics.ts'
import type { Row } from './lib/table.ts'

const endpoints = 10_000
const rowsEach = 50
const claims = 200

/** How long a claim takes while 10,000 endpoints, of 100 workspaces, have deliveries that wait. */
export async function benchManyEndpoints(scope: Scope): Promise<Row[]> {
  const { db } = await scope.openStore(scope.newFolder())
  await fill(db)
  const rows: Row[] = []
  for (const due of [1_000, endpoints]) {
    const times = await measure(db, due)
    const what = `a claim, ${due.toLocaleString('en-US')} of ${endpoints.toLocaleString('en-US')} endpoints are due`
    rows.push(
      { what: `${what}, p50`, unit: 'ms', rounds: [percentile(times, 0.5)], target: { atMost: 20 } },
      { what: `${what}, p99`, unit: 'ms', rounds: [percentile(times, 0.99)] },
    )
  }
  return rows
}

async function fill(db: Db): Promise<void> {
  await db.change(
    `insert into workspaces (id, name, created_at) select md5('w' || n)::uuid, 'bench', now() from generate_series(1, 100) as n`,
  )
  await db.change(
    `insert into webhooks (id, workspace_id, name, url, secret_sealed, secret_hint, events, created_at)
     select md5('e' || n)::uuid, md5('w' || 1 + n % 100)::uuid, 'bench', 'http://127.0.0.1:9', '', '', '{}', now()
     from generate_series(1, ${endpoints}) as n`,
  )
  await db.change(
    `insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, due_at)
     select md5(n || ' ' || row)::uuid, md5('e' || n)::uuid, md5('w' || 1 + n % 100)::uuid, now(), now() + interval '1 hour'
     from generate_series(1, ${rowsEach}) as row, generate_series(1, ${endpoints}) as n`,
  )
  await db.change('analyze')
}

/** Makes all deliveries of some endpoints due, and claims. Returns how long each claim took. */
async function measure(db: Db, due: number): Promise<number[]> {
  await db.change(`update deliveries set due_at = now(), lease = null from generate_series(1, ${due}) as n
    where webhook_id = md5('e' || n)::uuid`)
  await db.change('delete from endpoint_visits')
  await db.change(`insert into endpoint_visits (webhook_id, workspace_id, visit_at)
    select md5('e' || n)::uuid, md5('w' || 1 + n % 100)::uuid,
      now() + case when n > ${due} then interval '1 hour' else '0' end
    from generate_series(1, ${endpoints}) as n`)
  const times: number[] = []
  for (let index = 0; index < claims; index++) {
    const now = new Date()
    const started = performance.now()
    const input = { now, lease: newUuid(), leaseUntil: new Date(now.getTime() + 3_600_000), except: [] }
    await claimInTurn(db, { ...input, capacityOf: () => 500 })
    times.push(performance.now() - started)
  }
  return times
}
