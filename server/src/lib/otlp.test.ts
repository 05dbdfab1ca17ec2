import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../sdk/testing/free-port.ts'
import { useCollector } from '../../testing/collector.ts'
import { newDatabase } from '../../testing/database.ts'
import { startHere } from '../../testing/service-here.ts'
import { until } from '../../testing/until.ts'
import { Counters } from './counters.ts'
import { newLogger } from './logger.ts'
import { SpanExporter } from './otlp.ts'
import type { Span } from './otlp-format.ts'

const collector = useCollector()

function newExporter(endpoint: string, headers: Record<string, string> = {}, pauseMs = 5) {
  const metrics = new Counters()
  const warnings: object[] = []
  const log = newLogger('silent')
  log.warn = (fields: object) => void warnings.push(fields)
  const resource = { 'deployment.environment.name': 'test' }
  const settings = { url: `${endpoint}/v1/traces`, headers, serviceName: 'parley-test', resource, ratio: 1 }
  const exporter = new SpanExporter({ settings, version: '1.2.3', metrics, log, batchMs: 5, pauseMs })
  onTestFinished(() => exporter.stop(0))
  return { exporter, warnings, count: (outcome: string) => metrics.counts('trace spans').get(outcome) ?? 0 }
}

/** Makes the collector respond in other ways, in turn, and then as usual. */
function respondWith(...responses: (readonly [status: number, headers?: Record<string, string>, body?: string])[]) {
  const usual = collector.respond
  onTestFinished(() => {
    collector.respond = usual
  })
  collector.respond = (response) => {
    const [status, headers = {}, body = ''] = responses.shift() ?? []
    if (status === undefined) usual(response)
    else response.writeHead(status, headers).end(body)
  }
}

const span = (number: number): Span => ({
  traceId: number.toString(16).padStart(32, '0'),
  spanId: number.toString(16).padStart(16, '0'),
  parentId: null,
  name: 'GET /v1/me',
  kind: 'server',
  startMs: 1_794_735_000_000.25,
  endMs: 1_794_735_000_001.5,
  isError: true,
  attributes: [
    ['http.route', '/v1/me'],
    ['http.response.status_code', 500],
  ],
})

test('spans are sent in batches, as OTLP in JSON, with the headers of the settings', async () => {
  const { exporter, count } = newExporter(collector.url, { 'x-token': 'secret' })
  for (let number = 1; number <= 1000; number++) exporter.add(span(number))
  await until('all spans are sent', () => count('sent') === 1000)
  expect(collector.bodies.length).toBeLessThan(10)
  expect(collector.headers[0]).toMatchObject({
    'x-token': 'secret',
    path: '/v1/traces',
    'content-type': 'application/json',
  })
  const { resourceSpans } = JSON.parse(collector.bodies[0] ?? '') as { resourceSpans: { resource: object }[] }
  expect(resourceSpans[0]?.resource).toEqual({
    attributes: [
      { key: 'service.name', value: { stringValue: 'parley-test' } },
      { key: 'service.version', value: { stringValue: '1.2.3' } },
      { key: 'service.instance.id', value: { stringValue: expect.stringMatching(/^[0-9a-f-]{36}$/) } },
      { key: 'deployment.environment.name', value: { stringValue: 'test' } },
    ],
  })
  expect(collector.spans[0]).toEqual({
    traceId: '00000000000000000000000000000001',
    spanId: '0000000000000001',
    name: 'GET /v1/me',
    kind: 2,
    startTimeUnixNano: '1794735000000250000',
    endTimeUnixNano: '1794735000001500000',
    attributes: [
      { key: 'http.route', value: { stringValue: '/v1/me' } },
      { key: 'http.response.status_code', value: { intValue: '500' } },
    ],
    status: { code: 2 },
  })
})

test('a collector that never responds costs only spans: the queue is bounded, and stopping does not wait for it', async () => {
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    silent.closeAllConnections()
    silent.close()
  })
  const connected = new Promise<void>((resolve) => silent.once('request', () => resolve()))
  const { exporter, count } = newExporter(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`)
  exporter.add(span(1))
  await connected
  for (let number = 0; number < 10_000; number++) exporter.add(span(number))
  expect(count('dropped')).toBe(10_000 - 4096)
  await exporter.stop(20)
  expect(count('dropped')).toBe(10_000)
  expect(count('sent')).toBe(0)
})

test('spans are sent again a few times if the collector is away, then dropped, with one line in the log', async () => {
  const { exporter, count, warnings } = newExporter(`http://127.0.0.1:${await freePort()}`, {}, 1)
  exporter.add(span(1))
  await until('the spans have failed', () => count('failed') === 1)
  exporter.add(span(2))
  await until('the next spans have failed', () => count('failed') === 2)
  expect(warnings).toMatchObject([{ event: 'tracing.export_failed' }])
})

test.each([429, 502, 503, 504])('spans are sent again after %i, and no other request before', async (status) => {
  const before = collector.bodies.length
  respondWith([status, { 'retry-after': '0' }], [status])
  const { exporter, count } = newExporter(collector.url)
  exporter.add(span(status))
  await until('the spans are sent', () => count('sent') === 1)
  expect(count('failed')).toBe(0)
  const [first, ...others] = collector.bodies.slice(before)
  expect(others).toEqual([first, first])
})

test.each([400, 401, 404, 413, 500])(
  'spans that the collector refuses with %i are dropped, and later ones are sent',
  async (status) => {
    respondWith([status])
    const { exporter, count, warnings } = newExporter(collector.url)
    exporter.add(span(1))
    await until('the collector has refused', () => count('failed') === 1)
    expect(warnings).toMatchObject([{ reason: `status ${status}` }])
    exporter.add(span(2))
    await until('the next one is sent', () => count('sent') === 1)
  },
)

test('after Retry-After: 3600, no request is sent, however many spans there are, and stopping does not wait', async () => {
  const before = collector.bodies.length
  respondWith([429, { 'retry-after': '3600' }], [503])
  const { exporter, count } = newExporter(collector.url)
  exporter.add(span(1))
  await until('the collector has refused', () => collector.bodies.length === before + 1)
  for (let round = 0; round < 20; round++) {
    for (let number = 0; number < 600; number++) exporter.add(span(number))
    await new Promise(setImmediate)
  }
  expect(collector.bodies.length).toBe(before + 1)
  // The first one waits too.
  expect(count('dropped')).toBe(20 * 600 + 1 - 4096)
  // Each batch is sent once more. The first one is refused again.
  await exporter.stop(60_000)
  expect([count('failed'), count('sent')]).toEqual([1, 4095])
})

test('spans that the collector has accepted only in part are counted', async () => {
  respondWith([200, {}, '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}'], [200, {}, 'not JSON'])
  const { exporter, count, warnings } = newExporter(collector.url)
  exporter.add(span(1))
  exporter.add(span(2))
  await until('the first spans are sent', () => count('sent') === 1)
  expect(count('failed')).toBe(1)
  expect(warnings).toMatchObject([{ reason: '1 spans rejected' }])
  exporter.add(span(3))
  await until('the next one is sent', () => count('sent') === 2)
})

test('a service with OTEL_EXPORTER_OTLP_ENDPOINT sends its spans before it ends', async () => {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  const service = await startHere(connection, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  const requestId = (await fetch(`${service.url}/v1/me`)).headers.get('x-request-id') ?? ''
  await service.stop()
  const [found] = await collector.trace(requestId.replace('req_', '').replaceAll('-', ''), 1)
  expect(found?.name).toBe('GET /v1/me')
})
