import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { hangsUp, neverResponds, refuses, responses, serveScript } from '../testing/scripted.ts'
import { newClient } from './client.ts'
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

test('a call names its key and itself', async () => {
  const { baseUrl, heard } = await serveScript(responses(200, { account_id: 'a' }))
  expect(await newClient({ key, baseUrl: `${baseUrl}/` }).me()).toEqual({ account_id: 'a' })
  expect(heard).toMatchObject([{ method: 'GET', url: '/v1/me', headers: { authorization: `Bearer ${key}` } }])
  expect(heard[0]?.headers['user-agent']).toMatch(new RegExp(`^parley-sdk/${version} Node`))
})

test('a refusal is an error with all that the service said', async () => {
  const more = { param: 'to', errors: [{ param: 'to', code: 'pattern', message: 'no' }], details: { a: 1 } }
  const { baseUrl } = await serveScript(refuses(400, 'validation_failed', { 'x-request-id': 'req_2' }, more))
  const error = await errorOf(newClient({ key, baseUrl }).me())
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

test('a call waits as long as it is asked to, then goes on', async () => {
  const { baseUrl, heard } = await serveScript(refuses(429, 'rate_limited', { 'retry-after': '1' }), responses(200, {}))
  const start = performance.now()
  await newClient({ key, baseUrl }).me()
  expect(performance.now() - start).toBeGreaterThan(990)
  expect(heard.length).toBe(2)
})

test('a call that is asked to wait for too long fails at once and says for how long', async () => {
  const { baseUrl, heard } = await serveScript(refuses(429, 'rate_limited', { 'retry-after': '60' }))
  const error = await errorOf(newClient({ key, baseUrl, maxWaitMs: 5000 }).me())
  expect(error).toMatchObject({ code: 'rate_limited', retryAfter: 60 })
  expect(heard.length).toBe(1)
})

test.each([
  ['service_unavailable', refuses(503, 'service_unavailable', { 'retry-after': '0' })],
  ['idempotency_in_progress', refuses(409, 'idempotency_in_progress', { 'retry-after': '0' })],
  ['a connection that breaks', hangsUp],
  ['a proxy that finds nobody', responses(502, 'Bad Gateway', { 'retry-after': '0' })],
])('a send goes on after %s, under one idempotency key', async (_name, trouble) => {
  const { baseUrl, heard } = await serveScript(trouble, trouble, responses(202, { id: 'msg_1' }))
  expect(await newClient({ key, baseUrl }).messages.send(hello)).toEqual({ id: 'msg_1' })
  const keys = heard.map(({ headers }) => headers['idempotency-key'])
  expect(keys).toEqual([keys[0], keys[0], keys[0]])
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
  expect(new Set(heard.map(({ body }) => body))).toEqual(new Set([JSON.stringify(hello)]))
})

test('each send has an idempotency key of its own, or the one it is given', async () => {
  const { baseUrl, heard } = await serveScript(responses(202, {}))
  const { messages } = newClient({ key, baseUrl })
  await messages.send(hello)
  await messages.send(hello)
  await messages.send(hello, { idempotencyKey: 'order-1001' })
  const keys = heard.map(({ headers }) => headers['idempotency-key'])
  expect(new Set(keys).size).toBe(3)
  expect(keys[2]).toBe('order-1001')
  for (const wrong of ['', 'order 1001', 'año', 'x'.repeat(256)]) {
    await expect(messages.send(hello, { idempotencyKey: wrong })).rejects.toThrow('idempotencyKey must')
  }
  expect(heard.length).toBe(3)
})

test('retries end, and a send that failed says under which key to repeat it', async () => {
  const { baseUrl, heard } = await serveScript(hangsUp)
  const error = await errorOf(newClient({ key, baseUrl, maxRetries: 1 }).messages.send(hello))
  expect(error).toMatchObject({ code: 'connection_failed', status: 0 })
  expect(heard.length).toBe(2)
  expect(error.idempotencyKey).toBe(heard[0]?.headers['idempotency-key'])
})

test('what will not pass by itself is not tried again', async () => {
  for (const [status, code] of [
    [500, 'internal_error'],
    [409, 'conflict'],
    [402, 'insufficient_credits'],
  ] as const) {
    const { baseUrl, heard } = await serveScript(refuses(status, code))
    await expect(newClient({ key, baseUrl }).messages.send(hello)).rejects.toMatchObject({ status, code })
    expect(heard.length).toBe(1)
  }
})

test('a post without an idempotency key is never repeated', async () => {
  const { baseUrl, heard } = await serveScript(refuses(503, 'service_unavailable', { 'retry-after': '0' }))
  await errorOf(newTransport({ key, baseUrl, maxRetries: 9 }).post('/v1/messages', {}, null, { maxRetries: 9 }))
  expect(heard.length).toBe(1)
})

test('a call ends when its time is up, the client’s or its own', async () => {
  const { baseUrl, heard } = await serveScript(neverResponds)
  const patient = newClient({ key, baseUrl, timeoutMs: 60_000, maxRetries: 0 })
  expect(await errorOf(patient.me({ timeoutMs: 50 }))).toMatchObject({ code: 'timeout', status: 0 })
  const hasty = newClient({ key, baseUrl, timeoutMs: 50 })
  expect(await errorOf(hasty.me({ maxRetries: 1 }))).toMatchObject({ message: expect.stringContaining('within 50 ms') })
  expect(heard.length).toBe(3)
})

test('an answer that stops in the middle is out of time too', async () => {
  const { baseUrl } = await serveScript((response) => response.writeHead(200).write('{"a":'))
  expect(await errorOf(newClient({ key, baseUrl, timeoutMs: 100, maxRetries: 0 }).me())).toMatchObject({
    code: 'timeout',
  })
})

test('a signal ends a call while it waits for an answer, and while it waits to try again', async () => {
  const why = new Error('the user left')
  for (const act of [neverResponds, refuses(429, 'rate_limited', { 'retry-after': '30' })]) {
    const { baseUrl, heard } = await serveScript(act)
    const controller = new AbortController()
    const calling = errorOf(newClient({ key, baseUrl }).me({ signal: controller.signal }))
    while (heard.length === 0) await sleep(5)
    await sleep(20)
    controller.abort(why)
    expect(await calling).toBe(why)
    expect(await errorOf(newClient({ key, baseUrl }).me({ signal: controller.signal }))).toBe(why)
    expect(heard.length).toBe(1)
  }
})

test('an answer that is not the service’s points at the base URL', async () => {
  const html = (status: number) => responses(status, '<!doctype html>', { 'content-type': 'text/html' })
  const page = await serveScript((response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'))
  const lost = await serveScript(html(404))
  const moved = await serveScript(responses(301, '', { location: 'https://parley.example.com/v1/me' }))
  for (const [{ baseUrl }, status, words] of [
    [page, 200, 'Is baseUrl right?'],
    [lost, 404, 'Is baseUrl right?'],
    [moved, 301, 'points to https://parley.example.com/v1/me'],
  ] as const) {
    const error = await errorOf(newClient({ key, baseUrl }).me())
    expect(error).toMatchObject({ code: 'unexpected_answer', status, message: expect.stringContaining(words) })
  }
  const nobody = await errorOf(newClient({ key, baseUrl: 'http://127.0.0.1:1', maxRetries: 0 }).me())
  expect(nobody).toMatchObject({ code: 'connection_failed', message: expect.stringContaining('http://127.0.0.1:1') })
})

test.each([
  ['baseUrl is missing', undefined, key],
  ['must begin with https://', 'parley.example.com', key],
  ['must begin with https://', 'ftp://parley.example.com', key],
  ['must not carry', 'https://user:pass@parley.example.com', key],
  ['must end before /v1', 'https://parley.example.com/v1/', key],
  ['key is missing', 'https://parley.example.com', ''],
  ['without "Bearer"', 'https://parley.example.com', 'Bearer prl_live_x'],
  ['signing secret', 'https://parley.example.com', 'whsec_x'],
  ['copied whole', 'https://parley.example.com', 'prl_live_x\n'],
])('a client that cannot work says so at once: %s', (words, baseUrl, wrongKey) => {
  expect(() => newClient({ key: wrongKey, baseUrl: baseUrl as string })).toThrow(words)
})
