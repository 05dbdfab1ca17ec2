import { expect, test } from 'vitest'
import { mayIdle } from '../../../../testing/may-idle.ts'
import { newApp, newSender, text, webhookOf } from '../../../../testing/network-app.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import { newWorkspace } from '../../../../testing/workspace.ts'

const server = useTestServer()

test('a webhook gets 503 while too many updates wait for the database, and is stored afterwards', async () => {
  const app = await newApp(server)
  const { id } = await newWorkspace(server)
  await newSender(server, id, app.id, '4711')
  const messages = (count: number, name: string) =>
    webhookOf(
      '4711',
      Array.from({ length: count }, (_, n) => text(`wamid.${name}.${n}`, 'x')),
    )
  // The app and the number are cached now.
  expect(await app.post(messages(1, 'first'))).toBe(200)
  let waiting: Promise<number[]> | undefined
  await server.db.transaction(async (tx) => {
    await mayIdle(tx)
    await tx.rows('lock table routing_revision in access exclusive mode')
    waiting = Promise.all([app.post(messages(9_000, 'a')), app.post(messages(9_000, 'b'))])
    await until('they are read', async () => (await bodyBytes()) > 1_500_000)
    expect(await app.post(messages(9_000, 'c'))).toBe(503)
    expect(await metricOf('parley_http_overload_total{limit="waiting_updates"}')).toBe(1)
  })
  expect(await waiting).toEqual([200, 200])
  expect(await app.post(messages(1, 'c'))).toBe(200)
})

test('a chunk of history counts as many updates as it has messages', async () => {
  const app = await newApp(server)
  const { id } = await newWorkspace(server)
  await newSender(server, id, app.id, '4712')
  const chunk = (count: number, name: string) => {
    const messages = Array.from({ length: count }, (_, n) => text(`wamid.${name}.${n}`, 'x'))
    const history = [
      { metadata: { phase: 0, chunk_order: 1, progress: 1 }, threads: [{ id: '16505550123', messages }] },
    ]
    const value = { messaging_product: 'whatsapp', metadata: { phone_number_id: '4712' }, history }
    return { object: 'whatsapp_business_account', entry: [{ id: '1', changes: [{ field: 'history', value }] }] }
  }
  expect(await app.post(webhookOf('4712', [text('wamid.before')]))).toBe(200)
  const before = await metricOf('parley_http_overload_total{limit="waiting_updates"}')
  let waiting: Promise<number> | undefined
  await server.db.transaction(async (tx) => {
    await mayIdle(tx)
    await tx.rows('lock table inbound_messages in access exclusive mode')
    waiting = app.post(chunk(12_000, 'a'))
    await until('it is read', async () => (await bodyBytes()) > 1_000_000)
    expect(await app.post(chunk(12_000, 'b'))).toBe(503)
    expect(await metricOf('parley_http_overload_total{limit="waiting_updates"}')).toBe(before + 1)
  })
  expect(await waiting).toBe(200)
})

test('a webhook with more updates than may wait is accepted if no other waits', async () => {
  const app = await newApp(server)
  const changes = Array.from({ length: 20_001 }, () => ({ field: 'x', value: {} }))
  expect(await app.post({ object: 'whatsapp_business_account', entry: [{ id: '1', changes }] })).toBe(200)
})

async function metricOf(name: string): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  return Number(
    metrics
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1] ?? 0,
  )
}

const bodyBytes = () => metricOf('parley_http_body_bytes')
