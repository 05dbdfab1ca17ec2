import { expect, onTestFinished, test } from 'vitest'
import { newLine } from '../../../../../testing/deliveries.ts'
import { asSuperuser, query } from '../../../../../testing/filled-database.ts'
import { useReceivers } from '../../../../../testing/receiver.ts'
import { rowsRead } from '../../../../../testing/rows-read.ts'
import { useTestServer } from '../../../../../testing/test-server.ts'
import { type Db, openDatabase } from '../../../../db/db.ts'
import { withIndexLookups } from '../../../../db/planner-settings.ts'
import { deleteDeliveriesBefore, releaseFirst } from './hold.sql.ts'
import { deleteNext, releaseNext } from './steps.sql.ts'

const server = useTestServer()
const newReceiver = useReceivers()

test('changing five deliveries of a webhook reads few others, even if there was none when it was planned', async () => {
  const { id } = await (await newLine(server)).listen(await newReceiver())
  const webhookId = id.slice(4)
  const now = server.clock.now()
  const later = new Date(now.getTime() + 3_600_000)
  const addDeliveries = (count: number) =>
    server.db.change(
      `insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, trigger, due_at)
       select gen_random_uuid(), $1, gen_random_uuid(), $2, 'retry', $3 from generate_series(1, $4::int)`,
      [webhookId, now, later, count],
    )
  await addDeliveries(1000)
  await server.db.change('delete from deliveries')
  await query(asSuperuser(server.connection), 'vacuum deliveries')
  const db = openDatabase(server.connection, () => {}, 1)
  onTestFinished(() => db.close())
  const step = {
    work: 'release',
    webhookId,
    workspaceId: '',
    position: null,
    positionAt: null,
    askedAt: now,
    done: 0,
  } as const
  const firstId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
  const changes: Record<string, (tx: Db) => Promise<unknown>> = {
    'releasing the first': (tx) => releaseFirst(tx, webhookId, now, 5),
    'releasing the next': (tx) => releaseNext(tx, step, 5),
    'deleting the next': (tx) => deleteNext(tx, step, 5),
    'deleting expired ones': (tx) => deleteDeliveriesBefore(tx, webhookId, { before: later, firstId, limit: 5 }),
  }
  for (const change of Object.values(changes)) await withIndexLookups(db, change)
  await addDeliveries(1000)
  const counts = () =>
    server.db.first<{ due: number; left: number }>(
      `select count(*) filter (where due_at = $2)::int as due, count(*)::int as left
       from deliveries where webhook_id = $1`,
      [webhookId, now],
    )
  const leftAfter: Record<string, number> = {}
  for (const [name, change] of Object.entries(changes)) {
    expect.soft(await rowsRead(db, 'deliveries', (tx) => withIndexLookups(tx, change)), name).toBeLessThan(50)
    leftAfter[name] = (await counts())?.left ?? 0
    if (name === 'releasing the first') expect.soft((await counts())?.due).toBe(5)
  }
  expect(Object.values(leftAfter)).toEqual([1000, 1000, 995, 990])
})
