import { expect, test } from 'vitest'
import type { ApiResponse } from '../../../testing/call.ts'
import { useProcesses } from '../../../testing/processes.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'

const server = useTestServer()
const processes = useProcesses(server)

const remaining = (responses: ApiResponse[]) =>
  responses.map(({ headers }) => Number(headers.get('ratelimit-remaining'))).sort((a, b) => b - a)
const countdown = (from: number) => Array.from({ length: from }, (_, index) => from - 1 - index)

async function storm(count: number, key: string | undefined, path = '/v1/me'): Promise<ApiResponse[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => processes.call(index, path, key ? { key } : {})))
}

test('of 200 parallel requests over three processes, a budget of 30 lets exactly 30 through', async () => {
  const workspace = await newWorkspace(server)
  const { secret } = await workspace.newKey({ budget: 30 })
  const responses = await storm(200, secret)
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
  const { secret } = await workspace.newKey({ budget: 2 })
  const ask = async (index: number) => {
    const { status, headers } = await processes.call(index, '/v1/me', { key: secret })
    return [status, headers.get('ratelimit-remaining'), headers.get('ratelimit-reset'), headers.get('retry-after')]
  }
  server.clock.forward({ seconds: 7 })
  expect(await ask(0)).toEqual([200, '1', '60', null])
  server.clock.forward({ seconds: 59 })
  expect(await ask(1)).toEqual([200, '0', '1', null])
  expect(await ask(2)).toEqual([429, '0', '1', '1'])
  server.clock.forward({ ms: 999 })
  expect(await ask(2)).toEqual([429, '0', '1', '1'])
  expect(await ask(0)).toEqual([429, '0', '1', '1'])
  server.clock.forward({ ms: 1 })
  expect(await ask(2)).toEqual([200, '1', '60', null])
  server.clock.forward({ minutes: 10 })
  expect(await ask(2)).toEqual([200, '1', '60', null])
})

test('after the window the whole budget is there again, exactly', async () => {
  const workspace = await newWorkspace(server)
  const { secret } = await workspace.newKey({ budget: 10 })
  for (let round = 0; round < 3; round++) {
    const responses = await storm(40, secret)
    expect(remaining(responses.filter(({ status }) => status === 200))).toEqual(countdown(10))
    server.clock.forward({ seconds: 60 })
  }
})

test('what is refused after the budget was charged has still used it', async () => {
  const workspace = await newWorkspace(server)
  const { secret } = await workspace.newKey({ budget: 3, scopes: [] })
  const statuses = []
  for (const path of ['/v1/webhook', '/v1/nothing', '/v1/me?x=1', '/v1/me']) {
    statuses.push((await server.call(path, { key: secret })).status)
  }
  expect(statuses).toEqual([403, 404, 400, 429])
})

test('each key has its own budget', async () => {
  const workspace = await newWorkspace(server)
  const keys = await Promise.all([1, 2, 3].map(() => workspace.newKey({ budget: 5 })))
  const responses = await Promise.all(keys.map(({ secret }) => storm(12, secret)))
  for (const each of responses) expect(each.filter(({ status }) => status === 200)).toHaveLength(5)
})

test('many keys at once, from every process and in any order, do not get in each other’s way', async () => {
  const workspace = await newWorkspace(server)
  const keys = await Promise.all(Array.from({ length: 25 }, () => workspace.newKey({ budget: 8 })))
  const calls = Array.from({ length: 12 }, (_, round) =>
    keys
      .toSorted((a, b) => ((a.key.id < b.key.id ? 1 : -1) * (round % 2 === 0 ? 1 : -1)) as number)
      .map(({ secret }, index) => processes.call(round + index, '/v1/me', { key: secret })),
  )
  const responses = await Promise.all(calls.flat())
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(25 * 8)
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(25 * 4)
})

test('a database clock that was set back does not keep a window open', async () => {
  const workspace = await newWorkspace(server)
  const { secret } = await workspace.newKey({ budget: 3 })
  await storm(12, secret)
  server.clock.forward({ hours: -2 })
  const responses = await storm(12, secret)
  server.clock.forward({ hours: 2 })
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(3)
  for (const { headers } of responses) expect(headers.get('ratelimit-reset')).toBe('60')
})

test('what is refused before the budget, and what is public, shares 600 a minute per address', async () => {
  server.clock.forward({ minutes: 2 })
  const workspace = await newWorkspace(server)
  const { secret: foreign } = await workspace.newKey({ allowedRanges: ['192.0.2.1'] })
  const first = await server.call('/v1/openapi.json')
  expect([first.headers.get('ratelimit-limit'), first.headers.get('ratelimit-remaining')]).toEqual(['600', '599'])
  expect((await server.call('/v1/me', { key: foreign })).headers.get('ratelimit-remaining')).toBe('598')
  server.clock.forward({ seconds: 20 })
  const responses = (await Promise.all([storm(300, undefined), storm(320, 'rubbish')])).flat()
  expect(responses.filter(({ status }) => status === 401)).toHaveLength(598)
  const over = responses.filter(({ status }) => status === 429)
  expect(over).toHaveLength(22)
  for (const { headers, body } of over) {
    expect(headers.get('retry-after')).toBe('40')
    expect(body).toMatchObject({ error: { code: 'rate_limited', details: { limit: 600, retry_after: 40 } } })
  }
  const page = await server.call('/v1/openapi.json')
  expect(page.status).toBe(429)
  // A key that is let in has its own budget, whatever its address has done.
  expect((await workspace.call('/v1/me')).headers.get('ratelimit-limit')).toBe('100')
  server.clock.forward({ seconds: 40 })
  expect((await server.call('/v1/me')).headers.get('ratelimit-remaining')).toBe('599')
})
