import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { newLine, useDeliveryWorker } from '../../../testing/deliveries.ts'
import { useReceivers } from '../../../testing/receiver.ts'
import { useTestServer } from '../../../testing/test-server.ts'

const server = useTestServer()
const deliveries = useDeliveryWorker(server)
const newReceiver = useReceivers()
const drain = () => deliveries.worker.drain()

async function setUp() {
  const line = await newLine(server)
  const receiver = await newReceiver()
  const { id: webhook } = await line.listen(receiver)
  const workspaceId = line.workspace.id
  const admin = await signedIn(server, { workspaceId, role: 'admin' })
  const at = (path: string) => `/w/${workspaceId}${path}`
  const retry = (filters: object, cursor?: string) =>
    admin.call(at('/deliveries/retry_matching'), { method: 'POST', body: { filters, ...(cursor && { cursor }) } })
  const total = async (query: string) => (await admin.call(at(`/deliveries/total?${query}`))).body
  return { line, receiver, webhook, workspaceId, admin, at, retry, total }
}

/** Deliveries that have ended, one a millisecond, the last one `minutes` ago. */
async function ended(
  { webhook, workspaceId }: { webhook: string; workspaceId: string },
  count: number,
  state: 'delivered' | 'failed',
  minutes = 1,
) {
  const endMs = server.clock.now().getTime() - minutes * 60_000
  const rows = `select to_timestamp(ms / 1000.0) as at,
      (lpad(to_hex(ms), 12, '0') || '7' || substr(md5(ms::text || $4 || $3), 1, 19))::uuid as id
    from generate_series($1::bigint - $2::int + 1, $1::bigint) as ms`
  const values = [endMs, count, webhook, state, workspaceId]
  await server.db.change(
    `with made as materialized (${rows}), added as (
       insert into events (id, workspace_id, type, body, created_at)
       select id, $5::uuid, 'message.received', '\\x7b7d', at from made)
     insert into delivery_attempts (at, event_id, webhook_id, workspace_id, event_created_at, number, trigger, state, status,
       error, duration_us)
     select at, id, substr($3, 5)::uuid, $5::uuid, at, 8, 'retry', $4, case $4 when 'failed' then 500 else 200 end,
       case $4 when 'failed' then 'http' end, 1000 from made`,
    values,
  )
}

const auditOf = (workspaceId: string) =>
  server.db.rows<{ after: object }>(
    `select after from audit_entries where workspace_id = $1 and action = 'delivery.retry_many' order by at, id`,
    [workspaceId],
  )

const openOf = async (webhook: string): Promise<number> =>
  (await server.db.rows(`select 1 from deliveries where webhook_id = $1 and trigger = 'manual'`, [webhook.slice(4)]))
    .length

test('all deliveries that match a filter are retried, in as many requests as they need', async () => {
  const mine = await setUp()
  const other = { ...mine, webhook: (await mine.line.listen(await newReceiver())).id }
  const stranger = await setUp()
  await ended(mine, 1200, 'failed')
  await ended(mine, 7, 'failed', 120)
  await ended(mine, 9, 'delivered')
  await ended(other, 3, 'failed')
  await ended(stranger, 5, 'failed')
  const hourAgo = new Date(server.clock.now().getTime() - 3_600_000).toISOString()
  const filters = { state: 'failed', webhook: mine.webhook, since: hourAgo }
  expect(await mine.total(`state=failed&webhook=${mine.webhook}&since=${hourAgo}`)).toEqual({
    total: 1200,
    total_is_exact: true,
  })
  const counts: number[] = []
  let cursor: string | undefined
  do {
    const { status, body } = await mine.retry(filters, cursor)
    expect(status).toBe(202)
    counts.push(body.retried)
    cursor = body.next_cursor ?? undefined
  } while (cursor)
  expect(counts).toEqual([500, 500, 200])
  expect([await openOf(mine.webhook), await openOf(other.webhook), await openOf(stranger.webhook)]).toEqual([
    1200, 0, 0,
  ])
  expect(await auditOf(mine.workspaceId)).toEqual(counts.map((retried) => ({ after: { filters, retried } })))
  expect(await mine.total('state=failed')).toEqual({ total: 10, total_is_exact: true })
  expect(await mine.total('state=waiting')).toEqual({ total: 1200, total_is_exact: true })
})

test('each delivery is retried once, even if it is delivered before the last request', async () => {
  const mine = await setUp()
  await ended(mine, 520, 'failed')
  await ended(mine, 6, 'delivered', 2)
  const first = await mine.retry({})
  expect(first.body).toEqual({ retried: 500, next_cursor: expect.any(String) })
  server.clock.forward({ seconds: 1 })
  await drain()
  expect(mine.receiver.received).toHaveLength(500)
  const second = await mine.retry({}, first.body.next_cursor)
  expect(second.body).toEqual({ retried: 26, next_cursor: null })
  await drain()
  expect(new Set(mine.receiver.received.map(({ id }) => id)).size).toBe(526)
  expect(mine.receiver.received).toHaveLength(526)
})

test('open deliveries are retried by their state, and those of a type by their type', async () => {
  const mine = await setUp()
  mine.receiver.behave(500)
  await mine.line.write(2)
  await drain()
  expect((await mine.retry({ state: 'held' })).body).toEqual({ retried: 0, next_cursor: null })
  expect((await mine.retry({ state: 'waiting', type: 'message.read' })).body).toEqual({ retried: 0, next_cursor: null })
  mine.receiver.behave(200)
  server.clock.forward({ seconds: 3 })
  expect((await mine.retry({ state: 'waiting', type: 'message.received' })).body.retried).toBe(2)
  await drain()
  expect(await mine.total('state=delivered')).toEqual({ total: 2, total_is_exact: true })
  const disabled = { method: 'POST', body: { reason: 'moving servers' } }
  await mine.admin.call(mine.at(`/webhooks/${mine.webhook}/disable`), disabled)
  await mine.line.write(3)
  expect(await mine.total('state=held')).toEqual({ total: 3, total_is_exact: true })
  expect((await mine.retry({ state: 'held' })).body.retried).toBe(3)
  await drain()
  expect(await mine.total('state=held')).toEqual({ total: 0, total_is_exact: true })
})

test('the totals of a tab stop at 10,000 and say so', async () => {
  const mine = await setUp()
  await ended(mine, 10_001, 'failed')
  expect(await mine.total('state=failed')).toEqual({ total: 10_000, total_is_exact: false })
  expect(await mine.total('')).toEqual({ total: 10_000, total_is_exact: false })
  expect(await mine.total('state=held')).toEqual({ total: 0, total_is_exact: true })
})

test('members may not retry what matches, and filters of another workspace or an invalid cursor are refused', async () => {
  const mine = await setUp()
  const stranger = await setUp()
  await ended(stranger, 2, 'failed')
  const path = mine.at('/deliveries/retry_matching')
  const body = { filters: { state: 'failed' } }
  const member = await signedIn(server, { workspaceId: mine.workspaceId, role: 'member' })
  expect((await member.call(path, { method: 'POST', body })).body.error.code).toBe('not_permitted')
  const developer = await signedIn(server, { workspaceId: mine.workspaceId, role: 'developer' })
  expect((await developer.call(path, { method: 'POST', body })).body).toEqual({ retried: 0, next_cursor: null })
  expect((await stranger.admin.call(path, { method: 'POST', body })).status).toBe(404)
  expect((await mine.retry({ webhook: stranger.webhook })).status).toBe(404)
  for (const cursor of ['nonsense', '1.lost.', '1.failed.nonsense', `x.failed.`]) {
    expect((await mine.retry({}, cursor)).body.error.param, cursor).toBe('cursor')
  }
  expect((await mine.retry({ state: 'lost' })).status).toBe(400)
  expect((await mine.retry({ ids: 'all' })).status).toBe(400)
  expect(await openOf(stranger.webhook)).toBe(0)
})
