import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import type { Db } from '../db/db.ts'
import type { OnChange } from '../db/notices/change-notices.ts'
import { Refusal } from '../lib/refuse.ts'
import { Overload } from '../sharing/overload.ts'
import { newLogger } from '../telemetry/logger.ts'
import { newTelemetry } from '../telemetry/telemetry.ts'
import type { CheckAccess } from './access-check.ts'
import { Bodies } from './bodies.ts'
import { type ConsoleDeps, mountConsole } from './console/pipeline.ts'
import { openRoute } from './console/route.ts'
import { mountIngress } from './ingress.ts'
import { Connections } from './limits/connections.ts'
import { HeldRequests } from './limits/held-requests.ts'
import { newLimits } from './limits/limits.ts'
import { NetworkSenders } from './limits/network-senders.ts'
import { WorkspaceSlots } from './limits/slots.ts'
import { mountMetrics } from './metrics.ts'
import { mountPages } from './pages.ts'
import { mountApi, notCharged } from './pipeline.ts'
import { route } from './route.ts'
import { newHttpServer } from './server.ts'

/** The error that every surface throws. */
let thrown: unknown
const fail = (): never => {
  throw thrown
}
const logged: string[] = []
const surfaces = ['/v1/fails', '/console/api/fails', '/network/whatsapp/app', '/readyz', '/metrics']
let app: FastifyInstance
let url: string

beforeAll(async () => {
  const log = newLogger('debug', { write: (line) => void logged.push(line) })
  const telemetry = newTelemetry()
  const overload = new Overload(telemetry.metrics, log)
  const addressOf = () => '127.0.0.1'
  const limits = newLimits({ maxConnections: 100, maxConnectionsPerAddress: 100 })
  const requestSlots = new WorkspaceSlots('workspace_requests', limits.requests, overload)
  const held = new WorkspaceSlots('held_requests', limits.heldRequests, overload)
  const connections = new Connections({ limits, trustProxy: [], overload, addressOf, isExempt: () => false })
  const deps = {
    db: { within: () => ({}), telemetry } as unknown as Db,
    clock: new FakeClock(),
    log,
    publicUrl: 'http://parley.test',
    trustProxy: [],
    timeouts: limits.timeouts,
    overload,
    addressOf,
    clientOf: (_cookie: string | undefined, key: string) => ({ key, isKnown: false }),
    openRequestsPerMinute: 1000,
    bodies: new Bodies({ limits, overload, addressOf }),
    requestSlots,
    heldRequests: new HeldRequests({ connections, requests: requestSlots, held }),
    senders: new NetworkSenders(limits.wrongSignatures, new FakeClock()),
    connections,
    secretKeys: new Map(),
    hasUsableSchema: () => true,
    changes: new Set<OnChange>(),
    settings: { publicUrl: '', mediaBytesPerWorkspace: 0 },
    inspect: () => null,
  }
  const rejects = async () => fail()
  const admit: CheckAccess = async () => ({ kind: 'admitted', caller: null, rateLimit: notCharged })
  const row = { method: 'GET', scope: 'public', summary: 'Fails', tag: 'Test', reply: Type.Null() } as const
  const all = { ...deps, admit, record() {} }
  app = newHttpServer(all)
  mountApi(app, [route({ ...row, path: '/v1/fails', handle: fail })], all)
  mountIngress(app, {
    ...deps,
    verifyHandshake: rejects,
    screen: () => undefined,
    receive: rejects,
    onWrongSignature: () => {},
  })
  const api = openRoute({ method: 'GET', path: '/fails', reply: Type.Null(), handle: fail })
  const openRoutes = { clientOf: () => ({ key: 'test', isKnown: false }), openRequestsPerMinute: 1_000 }
  const consoleDeps = { ...deps, ...openRoutes } as unknown as ConsoleDeps
  app.register(async (scope) => mountConsole(scope, [api], consoleDeps), { prefix: '/console/api' })
  app.register(async (scope) =>
    mountPages(scope, {
      whyNotReady: rejects,
      docs: {
        publicUrl: 'http://parley.test',
        document: () => ({}),
        clock: new FakeClock(),
        addressOf: () => '192.0.2.1',
      },
      handsetUrl: null,
    }),
  )
  app.register(async (scope) => mountMetrics(scope, { token: null, contentType: 'text/plain', render: rejects }))
  await app.listen({ host: '127.0.0.1', port: 0 })
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
})
afterAll(() => app.close())

const withCode = (code: string) => Object.assign(new Error('secret words'), { code })

test.each<[name: string, error: unknown, status: number, code: string, level: 'warn' | 'error' | null]>([
  ['a refusal', new Refusal('not_found'), 404, 'not_found', null],
  ['a refused body', new Refusal('payload_too_large'), 413, 'payload_too_large', null],
  ['temporarily unavailable', new Refusal('service_unavailable'), 503, 'service_unavailable', null],
  ['a database that is stopped', withCode('ECONNREFUSED'), 503, 'service_unavailable', 'warn'],
  ['a database that is starting', withCode('57P03'), 503, 'service_unavailable', 'warn'],
  ['a statement that took too long', withCode('57014'), 503, 'service_unavailable', 'warn'],
  ['a lock that was not released in time', withCode('55P03'), 503, 'service_unavailable', 'warn'],
  ['a query that timed out', new Error('Query read timeout'), 503, 'service_unavailable', 'warn'],
  ['a full disk', withCode('53100'), 503, 'service_unavailable', null],
  ['a disk that fails', withCode('58030'), 503, 'service_unavailable', null],
  ['a pool that is full', new Error('timeout exceeded when trying to connect'), 503, 'service_unavailable', 'warn'],
  ['bytes that are not HTTP', withCode('HPE_INVALID_METHOD'), 400, 'validation_failed', null],
  ['headers that are too large', withCode('HPE_HEADER_OVERFLOW'), 413, 'payload_too_large', null],
  ['a slow request', withCode('ERR_HTTP_REQUEST_TIMEOUT'), 408, 'request_timeout', null],
  ['Fastify: body too large', withCode('FST_ERR_CTP_BODY_TOO_LARGE'), 413, 'payload_too_large', null],
  ['Fastify: media type', withCode('FST_ERR_CTP_INVALID_MEDIA_TYPE'), 415, 'unsupported_media_type', null],
  ['Fastify: bad URL', withCode('FST_ERR_BAD_URL'), 400, 'validation_failed', null],
  ['a unique violation', withCode('23505'), 500, 'internal_error', 'error'],
  ['a bug', new TypeError('secret words'), 500, 'internal_error', 'error'],
  ['no error at all', undefined, 500, 'internal_error', 'error'],
  ['a text', 'secret words', 500, 'internal_error', 'error'],
])('%s gets the same response on every surface, and is logged once if it is an internal error', async (...row) => {
  const [, error, status, code, level] = row
  for (const path of surfaces) {
    thrown = error
    logged.length = 0
    const response = await fetch(url + path)
    const body = (await response.json()) as { error: Record<string, unknown> }
    const requestId = response.headers.get('x-request-id')
    expect(response.status, path).toBe(status)
    expect(body.error, path).toMatchObject({
      code,
      message: expect.not.stringContaining('secret words'),
      request_id: expect.stringMatching(/^req_/),
      doc_url: `http://parley.test/docs/errors#${code}`,
    })
    expect(requestId, path).toBe(body.error.request_id)
    expect(response.headers.get('content-type'), path).toBe('application/json; charset=utf-8')
    expect(response.headers.get('content-length'), path).toMatch(/^\d+$/)
    expect(response.headers.get('retry-after'), path).toBe(status === 503 ? '1' : null)
    const lines = logged.map((line) => JSON.parse(line)).filter((line) => line.request_id === requestId)
    expect(
      lines.map((line) => line.level),
      path,
    ).toEqual(level === null ? [] : [level === 'warn' ? 40 : 50])
  }
})
