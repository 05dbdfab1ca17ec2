import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { useCollector } from '../../testing/collector.ts'
import { newServiceDatabase } from '../../testing/database.ts'
import { startHere } from '../../testing/service-here.ts'
import { until } from '../../testing/until.ts'
import { newUuid } from '../lib/ids.ts'
import { Counters } from './counters.ts'
import { newLogger } from './logger.ts'
import { openTracing } from './open-tracing.ts'

const collector = useCollector()

function newTracing(endpoint: string, headers: Record<string, string> = {}) {
  const metrics = new Counters()
  const warnings: object[] = []
  const log = newLogger('silent')
  log.warn = (fields: object) => void warnings.push(fields)
  const resource = { 'deployment.environment.name': 'test' }
  const settings = { url: `${endpoint}/v1/traces`, headers, serviceName: 'parley-test', resource, ratio: 1 }
  const opened = openTracing(settings, { version: '1.2.3', metrics, log, findTraceparent: async () => null })
  onTestFinished(() => opened.stop(0))
  /** Records the span of a request. */
  const record = (id = newUuid()) =>
    opened.tracing.request({
      id,
      startedMs: 1_794_735_000_000.25,
      method: 'GET',
      route: '/v1/me',
      status: 500,
      code: null,
      workspaceId: null,
      messageId: null,
      traceparent: undefined,
    })
  return { ...opened, record, warnings, count: (outcome: string) => metrics.counts('trace spans').get(outcome) ?? 0 }
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

test('spans are sent in batches, as OTLP in JSON, with the headers of the settings', async () => {
  const { record, stop, count } = newTracing(collector.url, { 'x-token': 'secret' })
  record('01a1de10-0000-7000-8000-000000000001')
  for (let number = 1; number < 1000; number++) record()
  await stop(60_000)
  expect(count('sent')).toBe(1000)
  expect(collector.bodies.length).toBe(2)
  expect(collector.headers[0]).toMatchObject({
    'x-token': 'secret',
    path: '/v1/traces',
    'content-type': 'application/json',
  })
  const { resourceSpans } = JSON.parse(collector.bodies[0] ?? '') as { resourceSpans: { resource: object }[] }
  expect(resourceSpans[0]?.resource).toMatchObject({
    attributes: [
      { key: 'service.name', value: { stringValue: 'parley-test' } },
      { key: 'service.version', value: { stringValue: '1.2.3' } },
      { key: 'service.instance.id', value: { stringValue: expect.stringMatching(/^[0-9a-f-]{36}$/) } },
      { key: 'deployment.environment.name', value: { stringValue: 'test' } },
    ],
  })
  expect(collector.spans[0]).toMatchObject({
    traceId: '01a1de10000070008000000000000001',
    spanId: '8000000000000001',
    name: 'GET /v1/me',
    kind: 2,
    startTimeUnixNano: '1794735000000250000',
    attributes: [
      { key: 'http.request.method', value: { stringValue: 'GET' } },
      { key: 'http.route', value: { stringValue: '/v1/me' } },
      { key: 'http.response.status_code', value: { intValue: 500 } },
      { key: 'parley.request_id', value: { stringValue: '01a1de10-0000-7000-8000-000000000001' } },
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
  const { record, stop, count } = newTracing(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`)
  record()
  await connected
  for (let number = 0; number < 10_000; number++) record()
  // The first one waits too.
  expect(count('dropped')).toBe(10_001 - 4096)
  await stop(20)
  expect(count('sent')).toBe(0)
})

test('spans are sent again if the collector asks for it', async () => {
  const before = collector.bodies.length
  respondWith([503, { 'retry-after': '1' }])
  const { record, count } = newTracing(collector.url)
  record()
  await until('the spans are sent', () => count('sent') === 1)
  expect(count('failed')).toBe(0)
  const [first, ...others] = collector.bodies.slice(before)
  expect(others).toEqual([first])
})

test('spans that the collector refuses are dropped and later ones are sent, with one line in the log', async () => {
  respondWith([400], [429, { 'retry-after': '3600' }])
  const { record, count, warnings } = newTracing(collector.url)
  record()
  await until('the collector has refused', () => count('failed') === 1)
  expect(warnings).toEqual([{ event: 'tracing.export_failed', reason: '400 Bad Request' }])
  record()
  await until('the collector has refused again', () => count('failed') === 2)
  expect(warnings.length).toBe(1)
  record()
  await until('the next one is sent', () => count('sent') === 1)
})

test('if the collector accepts only some spans, the log has its reason', async () => {
  respondWith([200, {}, '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}'])
  const { record, stop, warnings } = newTracing(collector.url)
  record()
  record()
  await stop(60_000)
  expect(warnings).toMatchObject([{ reason: expect.stringMatching(/"rejectedSpans":"1","errorMessage":"too old"/) }])
})

test('a service with OTEL_EXPORTER_OTLP_ENDPOINT sends its spans before it ends', async () => {
  const { connection, drop } = await newServiceDatabase()
  onTestFinished(drop)
  const service = await startHere(connection, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  const requestId = (await fetch(`${service.url}/v1/me`)).headers.get('x-request-id') ?? ''
  await service.stop()
  const [found] = await collector.trace(requestId.replace('req_', '').replaceAll('-', ''), 1)
  expect(found?.name).toBe('GET /v1/me')
})
