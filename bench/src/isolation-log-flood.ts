import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig } from '@parley/server/config'
import { openStore } from '@parley/server/db/store'
import { createKey } from '@parley/server/domain/keys/keys'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import { newLogger } from '@parley/server/lib/logger'
import { putUnderLoad } from './load.ts'
import { startTarget } from './process.ts'

const seconds = 20
const ofCustomer = 60
const request = (headers: string) => Buffer.from(`GET /v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`)

/** A flood of requests without a key next to 60 requests of a customer: bytes written, and requests in the log. */
export async function benchLogFlood(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  const target = await startTarget('parley', dataDir)
  const config = readConfig({ PARLEY_DATA_DIR: dataDir })
  const store = await openStore(config, { purpose: 'visitor', schema: 'require', log: newLogger('silent') })
  const { db } = store
  const figures = async () => {
    const row = await db.first<{ wal: number; ours: number; rows: number }>(
      `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal,
         count(*) filter (where key_id is not null) as ours, count(*) as rows from request_log`,
    )
    return row ?? { wal: 0, ours: 0, rows: 0 }
  }
  try {
    const { id: workspaceId } = await createWorkspace(db, systemClock, 'bench')
    const key = { workspaceId, name: 'bench', scopes: [], budget: 100, createdBy: 'bench' }
    const { secret } = await createKey(db, systemClock, key)
    const before = await figures()
    const customer = Array<Buffer>(ofCustomer).fill(request(`Authorization: Bearer ${secret}\r\n`))
    const pace = ofCustomer / (seconds - 2)
    const [flood] = await Promise.all([
      putUnderLoad({ port: target.port, connections: 128, seconds, requests: [request('')] }),
      putUnderLoad({ port: target.port, connections: 4, seconds, requests: customer, once: true, pace }),
    ])
    await sleep(3000)
    const after = await figures()
    const sent = Object.values(flood.statuses).reduce((sum, count) => sum + count, 0)
    const megabytes = (after.wal - before.wal) / 1e6
    console.log(`a log flood: ${sent} requests without a key in ${seconds} s, ${ofCustomer} requests of a customer`)
    console.log(`  written ${megabytes.toFixed(1)} MB  rows ${after.rows - before.rows}`)
    console.log(`  requests of the customer in the log ${after.ours} (target: ${ofCustomer})`)
  } finally {
    await store.close()
    await target.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
