import { expect, test } from 'vitest'
import { rowsRead } from '../../../testing/rows-read.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import type { Db } from '../../db/db.ts'
import { newUuid } from '../../lib/ids.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { instanceHealth } from '../health/health.ts'
import { giveCredits } from './credits.ts'
import { verifyLedger, verifyNewEntries } from './verify-ledger.ts'

const server = useTestServer()
const log = newLogger('silent')

const verifyNew = () => verifyNewEntries(server.db, server.clock, log)
const verifyAll = () => verifyLedger(server.db, log)
const give = (workspaceId: string, amount = 5) => giveCredits(server.db, server.clock, workspaceId, amount, 'test')

/** Changes entries, which the service never does. */
async function falsify(statement: string, values: unknown[]): Promise<void> {
  await server.db.script('alter table credit_entries disable trigger keep_for_ever')
  await server.db.change(statement, values)
  await server.db.script('alter table credit_entries enable trigger keep_for_ever')
}

const setNewest = (workspaceId: string, amount: number) =>
  falsify(
    `update credit_entries set amount = $2 where id =
       (select id from credit_entries where workspace_id = $1 order by created_at desc, id desc limit 1)`,
    [workspaceId, amount],
  )

test('a check reads only entries since the last one', async () => {
  const { id } = await newWorkspace(server)
  await give(id, 1_000)
  await server.db.change(
    `insert into credit_entries (id, workspace_id, kind, amount, balance_after, note, created_at)
     select gen_random_uuid(), $1, 'grant', 1, 1000 + n, 'test', $2 from generate_series(1, 2000) as n`,
    [id, server.clock.now()],
  )
  await server.db.change('update credit_balances set balance = 3000 where workspace_id = $1', [id])
  server.clock.forward({ minutes: 20 })
  const entriesRead = (check: (tx: Db) => Promise<unknown>) => rowsRead(server.db, 'credit_entries', check)
  const check = (tx: Db) => verifyNewEntries(tx, server.clock, log)
  expect(await entriesRead(check)).toBeGreaterThan(2_000)
  await give(id)
  expect(await entriesRead(check)).toBeLessThan(10)
  expect(await entriesRead((tx) => verifyLedger(tx))).toBeGreaterThan(2_000)
  expect([await verifyNew(), await verifyAll()]).toEqual([[], []])
})

test('a falsified new entry is found by the hourly check, again and again until it is corrected', async () => {
  const { id } = await newWorkspace(server)
  await give(id)
  server.clock.forward({ minutes: 20 })
  expect(await verifyNew()).toEqual([])
  await give(id)
  await setNewest(id, 500)
  for (const _hour of [1, 2, 3]) {
    server.clock.forward({ minutes: 60 })
    expect(await verifyNew()).toEqual([{ workspace_id: id, balance: 10, entered: 505 }])
  }
  await setNewest(id, 5)
  expect(await verifyNew()).toEqual([])
})

test('a falsified old entry is found by the full check, which doctor runs, and a falsified balance by both', async () => {
  const { id } = await newWorkspace(server)
  await give(id)
  server.clock.forward({ minutes: 20 })
  expect(await verifyNew()).toEqual([])
  await setNewest(id, 7)
  const wrong = [{ workspace_id: id, balance: 5, entered: 7 }]
  expect([await verifyNew(), await verifyAll()]).toEqual([[], wrong])
  const site = { publicUrl: server.url, trustProxy: [] }
  const deps = { secretKeys: server.secretKeys, site, mediaBytesPerWorkspace: 1e6, ledger: true }
  const { findings } = await instanceHealth(server.db, server.clock, deps)
  expect(findings.find(({ check }) => check === 'ledger')).toMatchObject({
    verdict: 'problem',
    details: [`${id}: balance 5, sum of its entries 7`],
  })
  await setNewest(id, 5)
  await server.db.change('update credit_balances set balance = 4 where workspace_id = $1', [id])
  const less = [{ workspace_id: id, balance: 4, entered: 5 }]
  expect([await verifyNew(), await verifyAll()]).toEqual([less, less])
  await server.db.change('update credit_balances set balance = 5 where workspace_id = $1', [id])
  expect([await verifyNew(), await verifyAll()]).toEqual([[], []])
})

test('an entry that is committed long after it got its time is no false alarm, and is in the next checkpoint', async () => {
  const { id } = await newWorkspace(server)
  await give(id)
  const at = server.clock.now()
  server.clock.forward({ minutes: 60 })
  expect(await verifyNew()).toEqual([])
  // The process was frozen for an hour between reading the clock and its transaction.
  await server.db.transaction(async (tx) => {
    await tx.change('update credit_balances set balance = balance + 3 where workspace_id = $1', [id])
    await tx.change(
      `insert into credit_entries (id, workspace_id, kind, amount, balance_after, note, created_at)
       values ($1, $2, 'grant', 3, 8, 'late', $3)`,
      [newUuid(), id, at],
    )
  })
  expect(await verifyNew()).toEqual([])
  await setNewest(id, 5)
  expect(await verifyNew()).toEqual([])
  const check = await server.db.first<{ entered: number }>(
    'select entered from credit_checks where workspace_id = $1',
    [id],
  )
  expect(check).toEqual({ entered: 8 })
})
