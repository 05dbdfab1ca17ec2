import { afterAll, beforeEach, expect, test } from 'vitest'
import { type ReceivedSpan, useCollector } from '../../../testing/collector.ts'
import { localRules, newLine, useDeliveryWorker } from '../../../testing/deliveries.ts'
import { useReceivers } from '../../../testing/receiver.ts'
import { type TestShop, useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newUuid } from '../../lib/ids.ts'
import { openTracing } from '../../telemetry/open-tracing.ts'
import { createWebhook } from '../webhooks/webhooks.ts'
import { newFindTraceparent } from './reading/messages.ts'

const server = useTestServer()
const sending = useSending(server)
const delivering = useDeliveryWorker(server)
const newReceiver = useReceivers()
const collector = useCollector()

let stop: (() => Promise<void>) | undefined
/** Turns tracing on, as in a process that has just started: it knows nothing of earlier messages. */
async function trace(ratio = 1) {
  await stop?.()
  const settings = { url: `${collector.url}/v1/traces`, headers: {}, resource: {}, serviceName: 'parley', ratio }
  const { metrics } = server.db.telemetry
  const deps = { version: 'test', metrics, log: server.runtime.log, findTraceparent: newFindTraceparent(server.db) }
  const opened = openTracing(settings, deps)
  server.db.telemetry.tracing = opened.tracing
  stop = () => opened.stop(5_000)
}
beforeEach(() => trace())
afterAll(async () => {
  server.db.telemetry.tracing = null
  await stop?.()
})

async function newShop(): Promise<{ shop: TestShop; receiver: Awaited<ReturnType<typeof newReceiver>> }> {
  const shop = await sending.newShop()
  const receiver = await newReceiver()
  const input = {
    workspaceId: shop.workspace.id,
    name: 'receiver',
    url: `${receiver.url}/private-path`,
    events: ['message.sent', 'message.delivered', 'message.read'],
  }
  await createWebhook(server.db, server.clock, server.secretKeys, localRules, input)
  return { shop, receiver }
}

const traceIdOf = (id: string) => id.replace(/^[a-z]+_/, '').replaceAll('-', '')
const attribute = (span: ReceivedSpan | undefined, name: string) =>
  Object.values(span?.attributes.find(({ key }) => key === name)?.value ?? {})[0]

/** The names of the spans, each below its parent, as lines with indentation. Fails if they are not one tree. */
function treeOf(spans: readonly ReceivedSpan[], rootParent?: string): string[] {
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
  const below = (parent: string | undefined, depth: number): string[] =>
    spans
      .filter(({ parentSpanId }) => parentSpanId === parent)
      .map((span) => [`${'  '.repeat(depth)}${span.name}`, ...below(span.spanId, depth + 1)])
      .sort()
      .flat()
  const lines = below(rootParent, 0)
  expect(lines.length).toBe(spans.length)
  expect(lines.filter((line) => !line.startsWith(' ')).length).toBe(1)
  return lines
}

const event = (type: string, depth: number) => [
  `${'  '.repeat(depth)}publish ${type}`,
  `${'  '.repeat(depth + 1)}deliver event`,
]
const webhook = '  POST /network/whatsapp/{app_id}'

/** The spans of a message that was read: the request, the call, two or three webhooks of the network, events and attempts. */
async function readTrace(traceId: string, attempts = 3, rootParent?: string) {
  const spans = await until(`the trace ${traceId} is complete`, async () => {
    const found = await collector.trace(traceId, 8 + attempts - 1)
    return found.filter(({ name }) => name === 'deliver event').length === attempts && found
  })
  const lines = treeOf(spans, rootParent)
  expect(lines[0]).toBe('POST /v1/messages')
  const names = Map.groupBy(lines.slice(1), (line) => line.trim())
  // The webhook of the status `sent` may come before or after the response to the call.
  const webhooks = names.get(webhook.trim())?.length ?? 0
  names.delete(webhook.trim())
  expect([2, 3]).toContain(webhooks)
  expect(Object.fromEntries([...names].map(([name, all]) => [name, all.length]))).toEqual({
    'send message to WhatsApp': 1,
    'publish message.sent': 1,
    'publish message.delivered': 1,
    'publish message.read': 1,
    'deliver event': attempts,
  })
  // Statuses of the network are below its webhooks, attempts below their events.
  expect(lines.join('\n')).toContain([webhook, ...event('message.read', 2)].join('\n'))
  return spans
}

test('a message is one trace, from the request to the last delivery', async () => {
  const { shop, receiver } = await newShop()
  const { id } = await shop.sendText('15550170001')
  await sending.drain()
  await delivering.worker.drain()
  const spans = await readTrace(traceIdOf(id))
  for (const { startTimeUnixNano, endTimeUnixNano } of spans)
    expect(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano)).toBe(true)
  // Each delivery names the span of its attempt.
  const attempts = spans.filter(({ name }) => name === 'deliver event')
  expect(receiver.received.map(({ headers }) => headers.traceparent).sort()).toEqual(
    attempts.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`).sort(),
  )
  expect(attribute(attempts[0], 'http.response.status_code')).toBe(200)
})

test('with a traceparent, the trace is that of the client, also in a process that reads it from the database', async () => {
  const { shop, receiver } = await newShop()
  const client = { traceId: newUuid().replaceAll('-', ''), spanId: '00f067aa0ba902b7' }
  const headers = { traceparent: `00-${client.traceId}-${client.spanId}-01` }
  const { status } = await shop.send({ to: '15550170002', type: 'text', text: { body: 'hello' } }, headers)
  expect(status).toBe(202)
  await trace()
  receiver.next(500)
  await sending.drain()
  await delivering.worker.drain()
  const spans = await readTrace(client.traceId, 4, client.spanId)
  expect(new Set(receiver.received.map(({ headers }) => String(headers.traceparent).slice(3, 35)))).toEqual(
    new Set([client.traceId]),
  )
  const failed = spans.filter(({ status }) => status.code === 2)
  expect(failed.map((span) => [span.name, attribute(span, 'error.type')])).toEqual([['deliver event', 'http']])
})

test('an invalid traceparent is ignored, and a repeated request is a trace of its own', async () => {
  const { shop } = await newShop()
  const body = { to: '15550170003', type: 'text', text: { body: 'hello' } }
  const headers = { 'idempotency-key': newUuid(), traceparent: '00-00000000000000000000000000000000-1-01' }
  const first = await shop.send(body, headers)
  const repeated = await shop.send(body, headers)
  const { id } = first.body as { id: string }
  expect((repeated.body as { id: string }).id).toBe(id)
  expect((await collector.trace(traceIdOf(id), 1)).map(({ name }) => name)).toEqual(['POST /v1/messages'])
  const ofRequest = await collector.trace(traceIdOf(repeated.headers.get('x-request-id') ?? ''), 1)
  expect(ofRequest.map(({ name }) => name)).toEqual(['POST /v1/messages'])
})

test('each message of a webhook of the network begins a trace', async () => {
  const [receiver, line] = [await newReceiver(), await newLine(server)]
  await line.listen(receiver, ['message.received'])
  await line.write(2)
  await delivering.worker.drain()
  expect(receiver.received.length).toBe(2)
  for (const { headers, body } of receiver.received) {
    const { data } = JSON.parse(body) as { data: { message_id: string } }
    const traceId = traceIdOf(data.message_id)
    expect(headers.traceparent).toMatch(`00-${traceId}-`)
    const spans = await collector.trace(traceId, 3)
    expect(treeOf(spans)).toEqual([webhook.trim(), ...event('message.received', 1)])
    expect(
      attribute(
        spans.find(({ parentSpanId }) => !parentSpanId),
        'parley.updates',
      ),
    ).toBe(2)
  }
})

test('a refused request is a trace of its own', async () => {
  const response = await server.call('/v1/me')
  const spans = await collector.trace(traceIdOf(response.headers.get('x-request-id') ?? ''), 1)
  expect(spans.map(({ name }) => name)).toEqual(['GET /v1/me'])
  expect(attribute(spans[0], 'error.type')).toBe('invalid_key')
})

test('a path without a route is in no span', async () => {
  const { shop } = await newShop()
  const response = await shop.workspace.call('/v1/message/15550170007')
  const [span] = await collector.trace(traceIdOf(response.headers.get('x-request-id') ?? ''), 1)
  expect([span?.name, attribute(span, 'http.route')]).toEqual(['GET', undefined])
})

test('only the traceparent of an admitted request counts', async () => {
  await trace(0)
  const { shop } = await newShop()
  const call = async (path: string, key: string | undefined) => {
    const traceId = newUuid().replaceAll('-', '')
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` }
    await server.call(path, { ...(key === undefined ? {} : { key }), headers })
    return traceId
  }
  const refused = [
    await call('/v1/me', undefined),
    await call('/v1/me', 'prl_live_unknown'),
    await call('/v1/openapi.json', undefined),
  ]
  // The last one is exported, so the others would have been before it.
  await collector.trace(await call('/v1/me', shop.workspace.secret), 1)
  expect(collector.spans.filter(({ traceId }) => refused.includes(traceId))).toEqual([])
})

test('a part of the traces can be recorded: the others have no spans, and deliveries say so', async () => {
  await trace(0)
  const { shop, receiver } = await newShop()
  const { id } = await shop.sendText('15550170004')
  const client = newUuid().replaceAll('-', '')
  const sampled = { traceparent: `00-${client}-00f067aa0ba902b7-01` }
  await shop.send({ to: '15550170005', type: 'text', text: { body: 'hello' } }, sampled)
  await sending.drain()
  await delivering.worker.drain()
  // The client decided about its own trace.
  await readTrace(client, 3, '00f067aa0ba902b7')
  expect(collector.spans.filter(({ traceId }) => traceId === traceIdOf(id))).toEqual([])
  const flags = receiver.received.map(({ headers, body }) => [
    (JSON.parse(body) as { data: { message_id: string } }).data.message_id === id,
    String(headers.traceparent).slice(-2),
  ])
  expect(flags.filter(([isOwn, flag]) => (isOwn ? flag !== '00' : flag !== '01'))).toEqual([])
})

test('spans contain no personal data', async () => {
  const { shop } = await newShop()
  const { id } = await shop.sendText('15550170006')
  await sending.drain()
  await delivering.worker.drain()
  await readTrace(traceIdOf(id))
  const all = collector.bodies.join('\n')
  for (const secret of ['1555017', 'hello', 'wamid', 'private-path', '127.0.0.1', shop.account.phoneNumber])
    expect([secret, all.includes(secret)]).toEqual([secret, false])
})

test('if the collector is away, messages are sent and delivered as without it', async () => {
  const { shop, receiver } = await newShop()
  const usual = collector.respond
  collector.respond = (response) => response.writeHead(503, { 'retry-after': '3600' }).end()
  const failed = () => server.db.telemetry.metrics.counts('trace spans').get('failed') ?? 0
  const before = failed()
  const { id } = await shop.sendText('15550170007')
  await sending.drain()
  await delivering.worker.drain()
  expect((await shop.look(id)).status).toBe('read')
  expect(receiver.received.length).toBe(3)
  await stop?.()
  collector.respond = usual
  expect(failed()).toBeGreaterThan(before)
  expect(server.logged.filter((line) => line.includes('tracing.export_failed')).length).toBe(1)
})

test('without tracing, deliveries have no traceparent and nothing is stored', async () => {
  server.db.telemetry.tracing = null
  const { shop, receiver } = await newShop()
  const headers = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }
  const { body } = await shop.send({ to: '15550170008', type: 'text', text: { body: 'hello' } }, headers)
  await sending.drain()
  await delivering.worker.drain()
  expect(receiver.received.map(({ headers }) => headers.traceparent)).toEqual([undefined, undefined, undefined])
  const find = newFindTraceparent(server.db)
  expect(await find((body as { id: string }).id.slice(4))).toBeNull()
})
