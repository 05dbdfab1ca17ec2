import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@parley/server/config'
import type { Db } from '@parley/server/db/db'
import { openStore } from '@parley/server/db/store'
import { claimInTurn } from '@parley/server/domain/deliveries/engine/visits'
import { newUuid } from '@parley/server/lib/ids'
import { newLogger } from '@parley/server/lib/logger'

const endpoints = 10_000
const rowsEach = 50
const claims = 200

/** How long a claim takes while 10,000 endpoints, of 100 workspaces, have deliveries that wait. */
export async function manyEndpoints(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  const config = readConfig({ PARLEY_DATA_DIR: dataDir })
  const store = await openStore(config, { purpose: 'visitor', schema: 'migrate', log: newLogger('silent') })
  try {
    const { db } = store
    await fill(db)
    console.log(`${endpoints} endpoints, ${rowsEach} deliveries waiting at each, ms per claim (target: p50 under 20)`)
    for (const due of [1_000, endpoints]) console.log(`  ${String(due).padStart(6)} due   ${await measure(db, due)}`)
  } finally {
    await store.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
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

/** Makes all deliveries of some endpoints due, and claims. */
async function measure(db: Db, due: number): Promise<string> {
  await db.change(`update deliveries set due_at = now(), lease = null from generate_series(1, ${due}) as n
    where webhook_id = md5('e' || n)::uuid`)
  await db.change('delete from endpoint_visits')
  await db.change(`insert into endpoint_visits (webhook_id, workspace_id, visit_at)
    select md5('e' || n)::uuid, md5('w' || 1 + n % 100)::uuid,
      now() + case when n > ${due} then interval '1 hour' else '0' end
    from generate_series(1, ${endpoints}) as n`)
  const times: number[] = []
  let claimed = 0
  for (let index = 0; index < claims; index++) {
    const now = new Date()
    const started = performance.now()
    const input = { now, lease: newUuid(), leaseUntil: new Date(now.getTime() + 3_600_000), except: [] }
    const { rows } = await claimInTurn(db, { ...input, capacityOf: () => 500 })
    times.push(performance.now() - started)
    claimed += rows.length
  }
  times.sort((one, other) => one - other)
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? Number.NaN).toFixed(1)
  return `p50 ${at(0.5)}  p99 ${at(0.99)}  claimed ${claimed}`
}
