import { setTimeout as sleep } from 'node:timers/promises'
import { createKey } from '@parley/server/domain/keys/keys'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import { putUnderLoad } from './lib/load.ts'
import type { Scope } from './lib/scope.ts'
import type { Row } from './lib/table.ts'

const seconds = 20
const ofCustomer = 60
const request = (headers: string) => Buffer.from(`GET /v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`)

/** A flood of requests without a key next to 60 requests of a customer: bytes written, and requests in the log. */
export async function benchLogFlood(scope: Scope): Promise<Row[]> {
  const dataDir = scope.newFolder()
  const target = await scope.startTarget('parley', dataDir)
  const { db } = await scope.openStore(dataDir)
  const figures = async () => {
    const row = await db.first<{ wal: number; ours: number; rows: number }>(
      `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal,
         count(*) filter (where key_id is not null) as ours, count(*) as rows from request_log`,
    )
    return row ?? { wal: 0, ours: 0, rows: 0 }
  }
  const { id: workspaceId } = await createWorkspace(db, systemClock, 'bench')
  const key = { workspaceId, name: 'bench', scopes: [], rateLimitPerMin: 100, createdBy: 'bench' }
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
  const what = `a flood of ${sent.toLocaleString('en-US')} requests without a key`
  return [
    { what: `${what}, written`, unit: 'MB', rounds: [(after.wal - before.wal) / 1e6] },
    { what: `${what}, rows in the log`, unit: '', rounds: [after.rows - before.rows] },
    {
      what: `${what}, requests of a customer in the log`,
      unit: '',
      rounds: [after.ours],
      target: { atLeast: ofCustomer },
    },
  ]
}
