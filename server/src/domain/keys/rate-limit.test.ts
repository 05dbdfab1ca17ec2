import { expect, test } from 'vitest'
import type { ApiResponse } from '../../../testing/call.ts'
import { useProcesses } from '../../../testing/processes.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'

const server = useTestServer()
const processes = useProcesses(server)
const behindProxy = useTestServer({ trustProxy: ['127.0.0.1'] })

const remaining = (responses: ApiResponse[]) =>
  responses.map(({ headers }) => Number(headers.get('ratelimit-remaining'))).sort((a, b) => b - a)
const countdown = (from: number) => Array.from({ length: from }, (_, index) => from - 1 - index)

async function sendMany(count: number, key: string | undefined, path = '/v1/me'): Promise<ApiResponse[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => processes.call(index, path, key ? { key } : {})))
}

test('of 200 concurrent requests to three processes, a limit of 30 allows exactly 30', async () => {
  const workspace = await newWorkspace(server)
  const { secret } = await workspace.newKey({ rateLimitPerMin: 30 })
  const responses = await sendMany(200, secret)
  const passed = responses.filter(({ status }) => status !== 429)
  expect(passed.map(({ status }) => status)).toEqual(Array(30).fill(200))
  expect(remaining(passed)).toEqual(countdown(30))
  for (const { status, headers } of responses) {
    expect(headers.get('ratelimit-limit')).toBe('30')
    expect(headers.get('ratelimit-reset')).toBe('60')
    expect(headers.get('retry-after')).toBe(status === 429 ? '60' : null)
    if (status === 429) expect(headers.get('ratelimit-remaining')).toBe('0')
  }
})

test('the window opens with the first request, lasts 60 seconds and does not move', async () => {
  const workspace = await newWorkspace(server)
  const { secret } = await workspace.newKey({ rateLimitPerMin: 2 })
  const request = async (index: number) => {
    const { status, headers } = await processes.call(index, '/v1/me', { key: secret })
    return [status, headers.get('ratelimit-remaining'), headers.get('ratelimit-reset'), headers.get('retry-after')]
  }
  server.clock.forward({ seconds: 7 })
  expect(await request(0)).toEqual([200, '1', '60', null])
  server.clock.forward({ seconds: 59 })
  expect(await request(1)).toEqual([200, '0', '1', null])
  expect(await request(2)).toEqual([429, '0', '1', '1'])
  server.clock.forward({ ms: 999 })
  expect(await request(2)).toEqual([429, '0', '1', '1'])
  expect(await request(0)).toEqual([429, '0', '1', '1'])
  server.clock.forward({ ms: 1 })
  expect(await request(2)).toEqual([200, '1', '60', null])
  server.clock.forward({ minutes: 10 })
  expect(await request(2)).toEqual([200, '1', '60', null])
})

test('the full limit is available again after the window', async () => {
  const workspace = await newWorkspace(server)
  const { secret } = await workspace.newKey({ rateLimitPerMin: 10 })
  for (let round = 0; round < 3; round++) {
    const responses = await sendMany(40, secret)
    expect(remaining(responses.filter(({ status }) => status === 200))).toEqual(countdown(10))
    server.clock.forward({ seconds: 60 })
  }
})

test('requests that fail after the rate limit check still count', async () => {
  const workspace = await newWorkspace(server)
  const { secret } = await workspace.newKey({ rateLimitPerMin: 3, scopes: [] })
  const statuses = []
  for (const path of ['/v1/webhook', '/v1/nothing', '/v1/me?x=1', '/v1/me']) {
    statuses.push((await server.call(path, { key: secret })).status)
  }
  expect(statuses).toEqual([403, 404, 400, 429])
})

test('each key has its own rate limit', async () => {
  const workspace = await newWorkspace(server)
  const keys = await Promise.all([1, 2, 3].map(() => workspace.newKey({ rateLimitPerMin: 5 })))
  const responses = await Promise.all(keys.map(({ secret }) => sendMany(12, secret)))
  for (const each of responses) expect(each.filter(({ status }) => status === 200)).toHaveLength(5)
})

test('concurrent requests with many keys, in any order, neither deadlock nor share a limit', async () => {
  const workspace = await newWorkspace(server)
  const keys = await Promise.all(Array.from({ length: 25 }, () => workspace.newKey({ rateLimitPerMin: 8 })))
  const calls = Array.from({ length: 12 }, (_, round) =>
    keys
      .toSorted((a, b) => ((a.key.id < b.key.id ? 1 : -1) * (round % 2 === 0 ? 1 : -1)) as number)
      .map(({ secret }, index) => processes.call(round + index, '/v1/me', { key: secret })),
  )
  const responses = await Promise.all(calls.flat())
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(25 * 8)
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(25 * 4)
})

test('a window ends even if the database clock was set back', async () => {
  const workspace = await newWorkspace(server)
  const { secret } = await workspace.newKey({ rateLimitPerMin: 3 })
  await sendMany(12, secret)
  server.clock.forward({ hours: -2 })
  const responses = await sendMany(12, secret)
  server.clock.forward({ hours: 2 })
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(3)
  for (const { headers } of responses) expect(headers.get('ratelimit-reset')).toBe('60')
})

test('public and unauthenticated requests share a limit of 600 per minute and IP address', async () => {
  server.clock.forward({ minutes: 2 })
  const workspace = await newWorkspace(server)
  const { secret: otherAddress } = await workspace.newKey({ allowedRanges: ['192.0.2.1'] })
  const first = await server.call('/v1/openapi.json')
  expect([first.headers.get('ratelimit-limit'), first.headers.get('ratelimit-remaining')]).toEqual(['600', '599'])
  expect((await server.call('/v1/me', { key: otherAddress })).headers.get('ratelimit-remaining')).toBe('598')
  server.clock.forward({ seconds: 20 })
  const responses = (await Promise.all([sendMany(300, undefined), sendMany(320, 'rubbish')])).flat()
  expect(responses.filter(({ status }) => status === 401)).toHaveLength(598)
  const over = responses.filter(({ status }) => status === 429)
  expect(over).toHaveLength(22)
  for (const { headers, body } of over) {
    expect(headers.get('retry-after')).toBe('40')
    expect(body).toMatchObject({ error: { code: 'rate_limited', details: { limit: 600, retry_after: 40 } } })
  }
  const page = await server.call('/v1/openapi.json')
  expect(page.status).toBe(429)
  // A valid key has its own limit, independent of its address.
  expect((await workspace.call('/v1/me')).headers.get('ratelimit-limit')).toBe('100')
  server.clock.forward({ seconds: 40 })
  expect((await server.call('/v1/me')).headers.get('ratelimit-remaining')).toBe('599')
})

test('the addresses of one /64 of IPv6 share the limit of one address', async () => {
  const remainingOf = async (address: string) =>
    (await behindProxy.call('/v1/me', { headers: { 'x-forwarded-for': address } })).headers.get('ratelimit-remaining')
  expect(await remainingOf('2001:db8:1:2::1')).toBe('599')
  expect(await remainingOf('2001:db8:1:2:ffff::9')).toBe('598')
  expect(await remainingOf('2001:db8:1:3::1')).toBe('599')
})
