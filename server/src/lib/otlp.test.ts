import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../sdk/testing/free-port.ts'
import { useCollector } from '../../testing/collector.ts'
import { newDatabase } from '../../testing/database.ts'
import { spawnService } from '../../testing/service.ts'
import { until } from '../../testing/until.ts'
import { Counters } from './counters.ts'
import { newLogger } from './logger.ts'
import { type Span, SpanExporter } from './otlp.ts'

const collector = useCollector()

function newExporter(endpoint: string, headers: Record<string, string> = {}) {
  const metrics = new Counters()
  const settings = { endpoint, headers, serviceName: 'parley-test', ratio: 1 }
  const exporter = new SpanExporter({ settings, version: '1.2.3', metrics, log: newLogger('silent'), batchMs: 5 })
  onTestFinished(() => exporter.stop(0))
  return { exporter, count: (outcome: string) => metrics.counts('trace spans').get(outcome) ?? 0 }
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
  const { exporter, count } = newExporter(`${collector.url}/`, { 'x-token': 'secret' })
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

test('spans that the collector does not accept are dropped, and later ones are sent', async () => {
  const { exporter, count } = newExporter(`http://127.0.0.1:${await freePort()}`)
  exporter.add(span(1))
  await until('the spans have failed', () => count('failed') === 1)
  const usual = collector.respond
  collector.respond = (response) => {
    collector.respond = usual
    response.writeHead(429).end()
  }
  const other = newExporter(collector.url)
  other.exporter.add(span(1))
  await until('the collector has refused', () => other.count('failed') === 1)
  other.exporter.add(span(2))
  await until('the next one is sent', () => other.count('sent') === 1)
})

test('a service with OTEL_EXPORTER_OTLP_ENDPOINT sends its spans before it ends', async () => {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  const service = await spawnService(connection, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  const requestId = (await fetch(`${service.url}/v1/me`)).headers.get('x-request-id') ?? ''
  await service.stop()
  const [found] = await collector.trace(requestId.replace('req_', '').replaceAll('-', ''), 1)
  expect(found?.name).toBe('GET /v1/me')
})
