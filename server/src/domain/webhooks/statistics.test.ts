import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { newLine, useDeliveryWorker } from '../../../testing/deliveries.ts'
import { useReceivers } from '../../../testing/receiver.ts'
import { useTestServer } from '../../../testing/test-server.ts'

const server = useTestServer()
const deliveries = useDeliveryWorker(server)
const newReceiver = useReceivers()

async function setUp() {
  const line = await newLine(server)
  const receiver = await newReceiver()
  const { id } = await line.listen(receiver)
  const admin = await signedIn(server, { workspaceId: line.workspace.id, role: 'admin' })
  const read = (period = '') => admin.call(`/w/${line.workspace.id}/webhooks/${id}/statistics${period}`)
  const deliver = async (count: number) => {
    await line.write(count)
    await deliveries.worker.drain()
  }
  return { line, receiver, id, admin, read, deliver }
}

const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0)

test('the statistics of an endpoint count its attempts by step, and no others', async () => {
  const { line, receiver, id, admin, read, deliver } = await setUp()
  // Of the same workspace, and only one of them fails.
  await line.listen(await newReceiver())
  await deliver(2)
  await deliver(1)
  server.clock.forward({ hours: 2 })
  receiver.next(500)
  await deliver(1)
  const day = (await read()).body
  expect(day).toMatchObject({ period: '24h', step_hours: 1 })
  expect(day.steps).toHaveLength(24)
  expect(day.attempts.succeeded.slice(-3)).toEqual([3, 0, 1])
  expect(day.attempts.failed.slice(-3)).toEqual([0, 0, 1])
  expect(day.attempts.p95_ms.slice(-3)).toEqual([expect.any(Number), null, expect.any(Number)])
  expect(day.attempts.overall.p50_ms).toBeLessThanOrEqual(day.attempts.overall.p95_ms)
  const { data } = (await admin.call(`/w/${line.workspace.id}/deliveries?webhook=${id}`)).body
  const details = await Promise.all(
    data.map((each: { event_id: string }) => admin.call(`/w/${line.workspace.id}/deliveries/${each.event_id}/${id}`)),
  )
  const durations = details.flatMap(({ body }) => body.tries.map((each: { duration_ms: number }) => each.duration_ms))
  expect(durations).toHaveLength(5)
  // Of so few attempts, the slowest is the p95.
  expect(day.attempts.overall.p95_ms).toBe(Math.max(...durations))
  for (const [period, steps, hours] of [
    ['7d', 28, 6],
    ['30d', 30, 24],
  ] as const) {
    const { body } = await read(`?period=${period}`)
    expect(body).toMatchObject({ period, step_hours: hours })
    for (const series of ['succeeded', 'failed', 'p50_ms', 'p95_ms']) expect(body.attempts[series]).toHaveLength(steps)
    expect([total(body.attempts.succeeded), total(body.attempts.failed)]).toEqual([4, 1])
  }
})

test('statistics need an endpoint of the workspace, a known period and the permission', async () => {
  const { line, id, admin, read } = await setUp()
  expect((await read('?period=1y')).status).toBe(400)
  const other = await setUp()
  const strange = await admin.call(`/w/${line.workspace.id}/webhooks/${other.id}/statistics`)
  expect([strange.status, strange.body.error.code]).toEqual([404, 'not_found'])
  const member = await signedIn(server, { workspaceId: line.workspace.id, role: 'member' })
  expect((await member.call(`/w/${line.workspace.id}/webhooks/${id}/statistics`)).status).toBe(403)
  const developer = await signedIn(server, { workspaceId: line.workspace.id, role: 'developer' })
  expect((await developer.call(`/w/${line.workspace.id}/webhooks/${id}/statistics`)).body.attempts.overall).toEqual({
    p50_ms: null,
    p95_ms: null,
  })
})

test('30 days of an endpoint are read by the primary key of each partition', async () => {
  await server.db.rows('set enable_seqscan = off')
  const plan = await server.db.rows<{ 'QUERY PLAN': string }>(
    `explain select hour from delivery_hours where workspace_id = '0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d'
       and webhook_id = '0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d' and hour >= now() - interval '30 days'`,
  )
  const text = plan.map((row) => row['QUERY PLAN']).join('\n')
  expect(text).toMatch(/Index Cond: \(\(workspace_id = [^\n]*webhook_id = /)
  expect(text).not.toContain('Seq Scan')
})
