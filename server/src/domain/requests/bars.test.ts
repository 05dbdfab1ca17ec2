import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'

const server = useTestServer({ trustProxy: ['127.0.0.1'] })
const hourMs = 3_600_000

interface Bars {
  times: string[]
  counts: Record<string, number[]>
  counted_from: string | null
}

/** Requests of three hours: 2 and 1 in the first, 1 in the second, 3 in the third. */
async function setUp() {
  const workspace = await newWorkspace(server)
  const unscoped = await workspace.newKey({ name: 'unscoped', scopes: [] })
  const developer = await signedIn(server, { workspaceId: workspace.id, role: 'developer' })
  const read = (path: string) => developer.call(`/w/${workspace.id}${path}`)
  const hour = nextHour()
  await workspace.call('/v1/me')
  await workspace.call('/v1/me', { method: 'OPTIONS' })
  await workspace.call('/v1/nothing', { headers: { 'x-forwarded-for': '192.0.2.2' } })
  // The last millisecond of the first hour belongs to it.
  server.clock.forward({ ms: hour.getTime() + hourMs - 1 - server.clock.now().getTime() })
  await workspace.call('/v1/me')
  server.clock.forward({ ms: 1 })
  await workspace.call('/v1/messages', { method: 'POST', body: {} })
  server.clock.forward({ hours: 1 })
  await workspace.call('/v1/me')
  await server.call('/v1/webhook', { key: unscoped.secret })
  await workspace.call('/v1/templates?limit=0')
  await server.api.flush()
  const bars = async (query = '', list = 'requests'): Promise<Bars> => {
    const { status, body } = await read(`/${list}/bars?${query}`)
    expect([status, query]).toEqual([200, query])
    return body
  }
  const range = (from: number, to: number) =>
    `from=${new Date(hour.getTime() + from * hourMs).toISOString()}&to=${new Date(hour.getTime() + to * hourMs).toISOString()}`
  return { workspace, unscoped, read, bars, hour, range }
}

/** Moves the clock to the start of the next hour in UTC, and returns it. */
function nextHour(): Date {
  const now = server.clock.now().getTime()
  server.clock.forward({ ms: hourMs - (now % hourMs) })
  return server.clock.now()
}

const sumsOf = ({ counts }: Bars) =>
  Object.fromEntries(
    Object.entries(counts).map(([result, values]) => [result, values.reduce((sum, value) => sum + value, 0)]),
  )

test('requests are counted by result in the hour in which they began', async () => {
  const { bars, hour, range } = await setUp()
  // Over three days the bars are hours, so they come from the hourly counts.
  const { times, counts, counted_from } = await bars(range(-60, 3))
  const first = times.indexOf(hour.toISOString())
  expect(Object.fromEntries(Object.entries(counts).map(([key, values]) => [key, values.slice(first)]))).toEqual({
    '2xx': [3, 0, 1],
    '4xx': [1, 1, 2],
  })
  expect([times.length - 1, counted_from]).toEqual([63, null])
})

test('a short range is counted from the log, and its bars are minutes', async () => {
  const { bars, hour, range } = await setUp()
  const { times, counts } = await bars(range(0, 1))
  expect([times.length - 1, times[0], times[60]]).toEqual([
    60,
    hour.toISOString(),
    new Date(hour.getTime() + hourMs).toISOString(),
  ])
  expect([counts['2xx']?.at(0), counts['2xx']?.at(-1), counts['4xx']?.at(0)]).toEqual([2, 1, 1])
  expect(sumsOf(await bars(range(1, 2)))).toEqual({ '4xx': 1 })
})

test('the bars have the filters of the list, whether hours or rows are counted', async () => {
  const { bars, read, range, unscoped } = await setUp()
  const filters = [
    ...['', 'status=2xx', 'status=4xx', 'status=5xx', 'status=404', 'status=200', 'status=204,404', 'code=not_found'],
    ...['code=not_found,validation_failed', 'code=validation_failed&status=2xx', `key=${unscoped.key.id}`],
    ...['method=OPTIONS', 'method=POST&status=4xx', 'route=v1/me', 'address=192.0.2.2'],
  ]
  for (const filter of filters) {
    for (const span of [range(-60, 3), range(0, 3)]) {
      const { body } = await read(`/requests?limit=100&${span}&${filter}`)
      const { counts } = await bars(`${span}&${filter}`)
      const sum = Object.values(counts)
        .flat()
        .reduce((total, value) => total + value, 0)
      expect([filter, sum]).toEqual([filter, body.data.length])
    }
  }
})

test('a request ID is one bar', async () => {
  const { bars, read, range } = await setUp()
  const { body } = await read(`/requests?${range(1, 2)}`)
  expect(sumsOf(await bars(`id=${body.data[0].id}`))).toEqual({ '4xx': 1 })
  expect((await bars('id=nonsense')).counts).toEqual({})
})

test('bars of days begin at midnight in the time zone', async () => {
  const { bars } = await setUp()
  const from = new Date(server.clock.now().getTime() - 40 * 24 * hourMs).toISOString()
  const { times } = await bars(`from=${from}&zone=America/New_York`)
  const midnights = times.map((time) =>
    new Intl.DateTimeFormat('en', { timeZone: 'America/New_York', hour: 'numeric', hourCycle: 'h23' }).format(
      new Date(time),
    ),
  )
  expect(new Set(midnights)).toEqual(new Set(['00']))
  expect((await bars(`from=${from}&zone=Nowhere`)).times[0]).toMatch(/T00:00/)
})

test('many requests: a known filter shows hours instead of minutes, another one says from when it counted', async () => {
  const { bars, workspace, hour, range } = await setUp()
  await server.db.change(
    `insert into request_log (at, id, workspace_id, key_id, method, route, status, duration_us, address)
     select $1::timestamptz + interval '30 minutes' + n * interval '1 ms', gen_random_uuid(), $2, $3, 'GET', '/v1/me', 200, 900, '192.0.2.1'
     from generate_series(1, 30100) as n`,
    [hour, workspace.id, workspace.key.id],
  )
  const inHours = await bars(range(0, 1))
  expect([inHours.times.length - 1, inHours.counted_from]).toEqual([1, null])
  const partial = await bars(`${range(0, 1)}&method=GET`)
  expect(Date.parse(partial.counted_from ?? '')).toBeGreaterThan(hour.getTime() + hourMs / 2)
  expect(sumsOf(partial)).toEqual({ '2xx': 30_000 })
})

test('API errors are counted by code, without muted ones, and the list has the same time filter', async () => {
  const { bars, read, range } = await setUp()
  const errors = (query: string) => bars(query, 'refusals')
  expect(sumsOf(await errors(range(0, 3)))).toEqual({ validation_failed: 2, insufficient_scope: 1, not_found: 1 })
  expect(sumsOf(await errors('since=24h'))).toEqual({ validation_failed: 2, insufficient_scope: 1, not_found: 1 })
  expect(sumsOf(await errors(range(1, 2)))).toEqual({ validation_failed: 1 })
  expect(sumsOf(await errors(`${range(0, 3)}&status=403`))).toEqual({ insufficient_scope: 1 })
  expect(sumsOf(await errors(`${range(0, 3)}&code=not_found`))).toEqual({ not_found: 1 })
  const codesIn = async (query: string) =>
    (await read(`/refusals?${query}`)).body.data.map(({ code, count }: { code: string; count: number }) => [
      code,
      count,
    ])
  expect(await codesIn(range(1, 2))).toEqual([['validation_failed', 1]])
  expect(await codesIn(range(0, 2))).toEqual([
    ['not_found', 1],
    ['validation_failed', 1],
  ])
  const { body: group } = await read(`/refusals/validation_failed?${range(1, 2)}`)
  expect(group).toMatchObject({ count: 1, trend: [1], by_key: [{ count: 1 }], routes_of: 1 })
})

test('validation_failed is grouped by field, with the latest request of each', async () => {
  const { workspace, read } = await setUp()
  const send = (body: object) => workspace.call('/v1/messages', { method: 'POST', body })
  const contact = { name: { formatted_name: 'Ana' }, phones: [{}] }
  await send({ to: 'x', type: 'text', text: { body: 'hi' } })
  server.clock.forward({ seconds: 1 })
  const last = await send({ to: 'x', type: 'contacts', contacts: [contact, { ...contact, phones: [{ phone: 7 }] }] })
  await server.api.flush()
  const { body } = await read('/refusals?code=validation_failed')
  const fields = body.data[0].fields as { field: string; count: number; codes: string[]; request_id: string }[]
  // The requests of the set-up have two more invalid ones: an empty body, and a limit.
  const byName = new Map(fields.map((field) => [field.field, field]))
  expect(byName.get('to')).toMatchObject({ count: 3, request_id: last.headers.get('x-request-id') })
  expect(byName.get('to')?.codes).toContain('missing')
  expect(byName.get('limit')).toMatchObject({ count: 1 })
  expect([...byName.keys()].filter((name) => /\.\d+\./.test(name))).toEqual([])
  expect(fields.map(({ count }) => count)).toEqual(fields.map(({ count }) => count).sort((a, b) => b - a))
  const { body: other } = await read('/refusals/not_found')
  expect(other.fields).toEqual([])
})

test('bars are only for admins and developers of the workspace, and have only its rows', async () => {
  const { workspace } = await setUp()
  const other = await newWorkspace(server)
  for (const list of ['requests', 'refusals']) {
    const member = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
    expect((await member.call(`/w/${workspace.id}/${list}/bars`)).status).toBe(403)
    const stranger = await signedIn(server, { workspaceId: other.id, role: 'admin' })
    expect((await stranger.call(`/w/${workspace.id}/${list}/bars`)).status).toBe(404)
    const { body } = await stranger.call(`/w/${other.id}/${list}/bars`)
    expect(body.counts).toEqual({})
  }
})

test.each(['from=yesterday', 'zone=', 'colour=red'])('%s gets 400', async (query) => {
  const { read } = await setUp()
  expect((await read(`/requests/bars?${query}`)).status).toBe(400)
})
