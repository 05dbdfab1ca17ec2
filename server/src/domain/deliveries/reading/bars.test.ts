import { expect, test } from 'vitest'
import { signedIn } from '../../../../testing/console.ts'
import { newLine, useDeliveryWorker } from '../../../../testing/deliveries.ts'
import { useReceivers } from '../../../../testing/receiver.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import type { Db } from '../../../db/db.ts'
import { attemptsByBar, type BarsQuery, failuresByBar, hoursByBar } from './bars.sql.ts'

const server = useTestServer()
const deliveries = useDeliveryWorker(server)
const newReceiver = useReceivers()

async function setUp() {
  const line = await newLine(server)
  const receiver = await newReceiver()
  const { id } = await line.listen(receiver)
  const admin = await signedIn(server, { workspaceId: line.workspace.id, role: 'admin' })
  const path = (query = '') => `/w/${line.workspace.id}/deliveries/bars${query}`
  const read = async (query = '') => (await admin.call(path(query))).body
  const deliver = async (count: number) => {
    await line.write(count)
    await deliveries.worker.drain()
  }
  /** A test event is attempted once, so its failure is permanent. */
  const failForGood = async () => {
    receiver.next(500)
    const body = { type: 'message.read' }
    await admin.call(`/w/${line.workspace.id}/webhooks/${id}/test`, { method: 'POST', body })
    await deliveries.worker.drain()
  }
  return { line, receiver, id, admin, path, read, deliver, failForGood }
}

const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0)
const totals = ({ counts }: { counts: Record<string, number[]> }) =>
  Object.fromEntries(Object.entries(counts).map(([result, values]) => [result, total(values)]))

test('the bars count the attempts of a workspace or a webhook by result', async () => {
  const { line, receiver, id, read, deliver, failForGood } = await setUp()
  await line.listen(await newReceiver())
  const strangers = await setUp()
  await strangers.deliver(3)
  await deliver(2)
  server.clock.forward({ hours: 6 })
  receiver.next(500)
  await deliver(1)
  await failForGood()
  const all = await read()
  expect(totals(all)).toEqual({ delivered: 6, retried: 1, failed: 1 })
  const bars = await read(`?webhook=${id}`)
  expect(totals(bars)).toEqual({ delivered: 3, retried: 1, failed: 1 })
  expect(bars.times).toHaveLength(bars.counts.delivered.length + 1)
  expect(Date.parse(bars.times.at(-1))).toBeGreaterThan(server.clock.now().getTime())
  expect([bars.counts.delivered.at(-1), bars.counts.retried.at(-1), bars.counts.failed.at(-1)]).toEqual([1, 1, 1])
  for (const percentile of ['p50_ms', 'p95_ms']) {
    expect(bars[percentile]).toHaveLength(bars.counts.delivered.length)
    expect(bars[percentile].at(-1)).toEqual(expect.any(Number))
    expect(bars[percentile][0]).toBeNull()
  }
})

test('a short time has bars of minutes, unless it has too many attempts', async () => {
  const { line, receiver, id, read, deliver, failForGood } = await setUp()
  const start = server.clock.now()
  await deliver(2)
  server.clock.forward({ minutes: 3 })
  receiver.next(500)
  await deliver(1)
  await failForGood()
  const since = new Date(start.getTime() - 60_000).toISOString()
  const until = new Date(start.getTime() + 5 * 60_000).toISOString()
  server.clock.forward({ minutes: 10 })
  const range = `?webhook=${id}&since=${since}&until=${until}`
  const short = await read(range)
  expect(Date.parse(short.times[1]) - Date.parse(short.times[0])).toBe(60_000)
  const at = (minutes: number) =>
    short.times.findLastIndex((time: string) => Date.parse(time) <= start.getTime() + minutes * 60_000)
  expect(totals(short)).toEqual({ delivered: 3, retried: 1, failed: 1 })
  expect([short.counts.delivered[at(0)], short.counts.delivered[at(3)], short.counts.failed[at(3)]]).toEqual([2, 1, 1])
  expect(short.p95_ms[at(1)]).toBeNull()
  expect(short.p95_ms[at(3)]).toEqual(expect.any(Number))
  await server.db.change('update delivery_hours set succeeded = 60000 where workspace_id = $1', [line.workspace.id])
  const long = await read(range)
  expect(Date.parse(long.times[1]) - Date.parse(long.times[0])).toBe(3_600_000)
  expect(totals(long)).toEqual({
    delivered: 60_000 * long.counts.delivered.filter(Boolean).length,
    retried: 1,
    failed: 1,
  })
})

test('the bars need a webhook of the workspace and the permission', async () => {
  const { line, id, admin, path } = await setUp()
  const other = await setUp()
  expect((await admin.call(path(`?webhook=${other.id}`))).status).toBe(404)
  expect((await admin.call(path('?since=noon'))).status).toBe(400)
  const member = await signedIn(server, { workspaceId: line.workspace.id, role: 'member' })
  expect((await member.call(path())).body.error.code).toBe('not_permitted')
  const developer = await signedIn(server, { workspaceId: line.workspace.id, role: 'developer' })
  expect((await developer.call(path(`?webhook=${id}`))).status).toBe(200)
})

test('every statement reads the rows of an endpoint by an index that begins with it', async () => {
  /** Returns the plans of statements instead of their rows. */
  const explaining = (db: Db): Db =>
    Object.assign(Object.create(db) as Db, {
      rows: (text: string, values: unknown[]) => db.rows(/set_config/.test(text) ? text : `explain ${text}`, values),
      transaction: <T>(run: (tx: Db) => Promise<T>) => db.transaction((tx) => run(explaining(tx))),
    })
  const planOf = async (read: (db: Db, query: BarsQuery & { limit: number }) => Promise<unknown[]>) => {
    const times = [7, 0].map((days) => new Date(server.clock.now().getTime() - days * 86_400_000))
    const query = { workspaceId: '0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d', webhookIds: null, times, limit: 100 }
    const rows = (await read(explaining(server.db), query)) as { 'QUERY PLAN': string }[]
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }
  const byEndpoint = /Index Cond: \([^\n]*webhook_id = w\.id[^\n]*(at|hour) >= /
  expect(await planOf(hoursByBar)).toMatch(byEndpoint)
  expect(await planOf(attemptsByBar)).toMatch(byEndpoint)
  const failures = await planOf(failuresByBar)
  expect(failures).toMatch(byEndpoint)
  expect(failures).toMatch(/webhook_id_at_idx/)
})
