import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { fails, hangsUp, neverResponds, respond, serveScript } from '../testing/scripted.ts'
import { Parley } from './client.ts'
import type { ParleyError } from './error.ts'
import { newTransport } from './transport.ts'
import { version } from './version.ts'

const key = 'prl_live_x'
const hello = { to: '491701234567', type: 'text', text: { body: 'hello' } } as const
const errorOf = (call: Promise<unknown>): Promise<ParleyError> =>
  call.then(
    () => expect.unreachable(),
    (error) => error,
  )

test('a request has the key and the user agent', async () => {
  const { baseUrl, requests } = await serveScript(respond(200, { account_id: 'a' }))
  expect(await new Parley({ key, baseUrl: `${baseUrl}/` }).me()).toEqual({ account_id: 'a' })
  expect(requests).toMatchObject([{ method: 'GET', url: '/v1/me', headers: { authorization: `Bearer ${key}` } }])
  expect(requests[0]?.headers['user-agent']).toMatch(new RegExp(`^parley-sdk/${version} Node`))
})

test('an error response becomes a ParleyError with all its fields', async () => {
  const more = { param: 'to', errors: [{ param: 'to', code: 'pattern', message: 'no' }], details: { a: 1 } }
  const { baseUrl } = await serveScript(fails(400, 'validation_failed', { 'x-request-id': 'req_2' }, more))
  const error = await errorOf(new Parley({ key, baseUrl }).me())
  expect(error).toMatchObject({
    name: 'ParleyError',
    message: 'It is validation_failed.',
    code: 'validation_failed',
    type: 'a_type',
    status: 400,
    requestId: 'req_2',
    retryAfter: null,
    idempotencyKey: null,
    ...more,
  })
})

test('a request is retried after Retry-After', async () => {
  const { baseUrl, requests } = await serveScript(fails(429, 'rate_limited', { 'retry-after': '1' }), respond(200, {}))
  const start = performance.now()
  await new Parley({ key, baseUrl }).me()
  expect(performance.now() - start).toBeGreaterThan(990)
  expect(requests.length).toBe(2)
})

test('a Retry-After above maxWaitMs fails immediately, with retryAfter in the error', async () => {
  const { baseUrl, requests } = await serveScript(fails(429, 'rate_limited', { 'retry-after': '60' }))
  const error = await errorOf(new Parley({ key, baseUrl, maxWaitMs: 5000 }).me())
  expect(error).toMatchObject({ code: 'rate_limited', retryAfter: 60 })
  expect(requests.length).toBe(1)
})

test.each([
  ['service_unavailable', fails(503, 'service_unavailable', { 'retry-after': '0' })],
  ['idempotency_in_progress', fails(409, 'idempotency_in_progress', { 'retry-after': '0' })],
  ['a broken connection', hangsUp],
  ['a 502 of a proxy', respond(502, 'Bad Gateway', { 'retry-after': '0' })],
])('a send is retried after %s with the same idempotency key', async (_name, failure) => {
  const { baseUrl, requests } = await serveScript(failure, failure, respond(202, { id: 'msg_1' }))
  expect(await new Parley({ key, baseUrl }).messages.send(hello)).toEqual({ id: 'msg_1' })
  const keys = requests.map(({ headers }) => headers['idempotency-key'])
  expect(keys).toEqual([keys[0], keys[0], keys[0]])
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
  expect(new Set(requests.map(({ body }) => body))).toEqual(new Set([JSON.stringify(hello)]))
})

test('each send has its own idempotency key, or the given one', async () => {
  const { baseUrl, requests } = await serveScript(respond(202, {}))
  const { messages } = new Parley({ key, baseUrl })
  await messages.send(hello)
  await messages.send(hello)
  await messages.send(hello, { idempotencyKey: 'order-1001' })
  const keys = requests.map(({ headers }) => headers['idempotency-key'])
  expect(new Set(keys).size).toBe(3)
  expect(keys[2]).toBe('order-1001')
  for (const wrong of ['', 'order 1001', 'año', 'x'.repeat(256)]) {
    await expect(messages.send(hello, { idempotencyKey: wrong })).rejects.toThrow('idempotencyKey must')
  }
  expect(requests.length).toBe(3)
})

test('retries are limited, and the error of a send has its idempotency key', async () => {
  const { baseUrl, requests } = await serveScript(hangsUp)
  const error = await errorOf(new Parley({ key, baseUrl, maxRetries: 1 }).messages.send(hello))
  expect(error).toMatchObject({ code: 'connection_failed', status: 0 })
  expect(requests.length).toBe(2)
  expect(error.idempotencyKey).toBe(requests[0]?.headers['idempotency-key'])
})

test('permanent errors are not retried', async () => {
  for (const [status, code] of [
    [500, 'internal_error'],
    [409, 'conflict'],
    [402, 'insufficient_credits'],
  ] as const) {
    const { baseUrl, requests } = await serveScript(fails(status, code))
    await expect(new Parley({ key, baseUrl }).messages.send(hello)).rejects.toMatchObject({ status, code })
    expect(requests.length).toBe(1)
  }
})

test('a POST without an idempotency key is never retried', async () => {
  const { baseUrl, requests } = await serveScript(fails(503, 'service_unavailable', { 'retry-after': '0' }))
  await errorOf(newTransport({ key, baseUrl, maxRetries: 9 }).post('/v1/messages', {}, null, { maxRetries: 9 }))
  expect(requests.length).toBe(1)
})

test('the timeout of the client or of the call applies', async () => {
  const { baseUrl } = await serveScript(neverResponds)
  // Counted here: on a busy machine, the time may be over before a request arrives.
  let attempts = 0
  const counting: typeof fetch = (url, init) => {
    attempts++
    return fetch(url, init)
  }
  const patient = new Parley({ key, baseUrl, timeoutMs: 60_000, maxRetries: 0, fetch: counting })
  expect(await errorOf(patient.me({ timeoutMs: 50 }))).toMatchObject({ code: 'timeout', status: 0 })
  const hasty = new Parley({ key, baseUrl, timeoutMs: 50, fetch: counting })
  expect(await errorOf(hasty.me({ maxRetries: 1 }))).toMatchObject({ message: expect.stringContaining('within 50 ms') })
  expect(attempts).toBe(3)
})

test('the timeout also applies while the body is read', async () => {
  const { baseUrl } = await serveScript((response) => response.writeHead(200).write('{"a":'))
  expect(await errorOf(new Parley({ key, baseUrl, timeoutMs: 100, maxRetries: 0 }).me())).toMatchObject({
    code: 'timeout',
  })
})

test('a signal aborts a call while it waits for a response and while it waits to retry', async () => {
  const why = new Error('the user left')
  for (const act of [neverResponds, fails(429, 'rate_limited', { 'retry-after': '30' })]) {
    const { baseUrl, requests } = await serveScript(act)
    const controller = new AbortController()
    const calling = errorOf(new Parley({ key, baseUrl }).me({ signal: controller.signal }))
    while (requests.length === 0) await sleep(5)
    await sleep(20)
    controller.abort(why)
    expect(await calling).toBe(why)
    expect(await errorOf(new Parley({ key, baseUrl }).me({ signal: controller.signal }))).toBe(why)
    expect(requests.length).toBe(1)
  }
})

test('a response that is not from Parley mentions baseUrl', async () => {
  const html = (status: number) => respond(status, '<!doctype html>', { 'content-type': 'text/html' })
  const page = await serveScript((response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'))
  const lost = await serveScript(html(404))
  const moved = await serveScript(respond(301, '', { location: 'https://parley.example.com/v1/me' }))
  for (const [{ baseUrl }, status, text] of [
    [page, 200, 'Check baseUrl.'],
    [lost, 404, 'Check baseUrl.'],
    [moved, 301, 'redirects to https://parley.example.com/v1/me'],
  ] as const) {
    const error = await errorOf(new Parley({ key, baseUrl }).me())
    expect(error).toMatchObject({ code: 'unexpected_response', status, message: expect.stringContaining(text) })
  }
  const unreachable = await errorOf(new Parley({ key, baseUrl: 'http://127.0.0.1:1', maxRetries: 0 }).me())
  expect(unreachable).toMatchObject({
    code: 'connection_failed',
    message: expect.stringContaining('http://127.0.0.1:1'),
  })
})

test.each([
  ['baseUrl is missing', undefined, key],
  ['must start with https://', 'parley.example.com', key],
  ['must start with https://', 'ftp://parley.example.com', key],
  ['must not contain', 'https://user:pass@parley.example.com', key],
  ['must not include /v1', 'https://parley.example.com/v1/', key],
  ['key is missing', 'https://parley.example.com', ''],
  ['without "Bearer"', 'https://parley.example.com', 'Bearer prl_live_x'],
  ['signing secret', 'https://parley.example.com', 'whsec_x'],
  ['Copy the key again', 'https://parley.example.com', 'prl_live_x\n'],
])('new Parley throws if an option is invalid: %s', (message, baseUrl, wrongKey) => {
  expect(() => new Parley({ key: wrongKey, baseUrl: baseUrl as string })).toThrow(message)
})

test('repeating a failed batch with the key of its error repeats the keys of its requests', async () => {
  const results = (count: number) =>
    respond(200, { data: Array.from({ length: count }, (_, index) => ({ index, status: 202, message: {} })) })
  const failing = fails(503, 'service_unavailable')
  const { baseUrl, requests } = await serveScript(results(500), failing, results(500), results(1))
  const { messages } = new Parley({ key, baseUrl, maxRetries: 0 })
  const batch = Array.from({ length: 501 }, () => hello)
  const { code, idempotencyKey } = await errorOf(messages.sendBatch(batch))
  expect(code).toBe('service_unavailable')
  expect(await messages.sendBatch(batch, { idempotencyKey: idempotencyKey ?? undefined })).toHaveLength(501)
  const keys = requests.map(({ headers }) => headers['idempotency-key'])
  expect(keys).toEqual([0, 1, 0, 1].map((part) => `${idempotencyKey}-${part}`))
})
