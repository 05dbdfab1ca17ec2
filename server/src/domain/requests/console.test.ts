import { expect, onTestFinished, test, vi } from 'vitest'
import { type SignedInPerson, signedIn } from '../../../testing/console.ts'
import { echoRoutes } from '../../../testing/echo.ts'
import { loggedRequest } from '../../../testing/log.ts'
import { useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newWorkspace, type TestWorkspace } from '../../../testing/workspace.ts'
import { newUuid } from '../../lib/ids.ts'
import { recordedKeys } from '../keys/uses.ts'
import { exportRequests } from './export.ts'
import { RequestRecorder } from './recorder.ts'

const server = useTestServer({ moreRoutes: echoRoutes, trustProxy: ['127.0.0.1'] })
const sending = useSending(server)

/** A workspace, a key without scopes, and a developer who reads the log. */
async function setUp() {
  const workspace = await newWorkspace(server)
  const unscoped = await workspace.newKey({ name: 'unscoped', scopes: [] })
  const developer = await signedIn(server, { workspaceId: workspace.id, role: 'developer' })
  return { workspace, unscoped, developer, read: (path: string) => developer.call(`/w/${workspace.id}${path}`) }
}

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })

const routes = [
  ['GET', '/requests'],
  ['GET', '/requests/req_0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d'],
  ['GET', '/requests.csv'],
  ['GET', '/refusals'],
  ['GET', '/refusals/not_found'],
  ['PUT', '/refusals/not_found/mute'],
  ['DELETE', '/refusals/not_found/mute'],
] as const

test.each(routes)('%s %s is only for admins and developers of the workspace', async (method, path) => {
  const workspace = await newWorkspace(server)
  await loggedRequest(server, await workspace.call('/v1/nothing'))
  const call = (person: SignedInPerson) =>
    person.call(`/w/${workspace.id}${path}`, { method, ...(method === 'GET' ? {} : { body: {} }) })
  for (const role of ['admin', 'developer'] as const) {
    const { status } = await call(await signedIn(server, { workspaceId: workspace.id, role }))
    expect([200, 404], role).toContain(status)
  }
  const member = await call(await signedIn(server, { workspaceId: workspace.id, role: 'member' }))
  expect(member).toMatchObject({ status: 403, body: { error: { code: 'not_permitted' } } })
  const other = await newWorkspace(server)
  const stranger = await call(await signedIn(server, { workspaceId: other.id, role: 'admin' }))
  expect(stranger).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
})

test('GET /requests returns requests newest first, with the key’s name, in pages', async () => {
  const { workspace, developer } = await setUp()
  const ids: string[] = []
  for (let round = 0; round < 5; round++) {
    const response = await workspace.call('/v1/me')
    ids.unshift(response.headers.get('x-request-id') ?? '')
    server.clock.forward({ seconds: 1 })
    await loggedRequest(server, response)
  }
  const listed: string[] = []
  for (let cursor = ''; ; ) {
    const { status, body } = await developer.call(`/w/${workspace.id}/requests?limit=2${cursor}`)
    expect(status).toBe(200)
    listed.push(...body.data.map(({ id }: { id: string }) => id))
    expect(body.data[0].key).toEqual({ id: workspace.key.id, name: 'test key', hint: workspace.key.hint })
    if (!body.has_more) break
    cursor = `&cursor=${body.next_cursor}`
  }
  expect(listed).toEqual(ids)
})

/** Makes one request of each kind and returns a function that searches them. */
async function makeRequests({ workspace, unscoped, read }: Awaited<ReturnType<typeof setUp>>) {
  await workspace.call('/v1/me', from('192.0.2.1'))
  server.clock.forward({ minutes: 1 })
  const middle = server.clock.now().toISOString()
  await workspace.call('/v1/nothing', from('192.0.2.2'))
  await server.call('/v1/webhook', { key: unscoped.secret, ...from('192.0.2.2') })
  const last = await workspace.call('/v1/me', { method: 'OPTIONS', ...from('192.0.2.3') })
  await loggedRequest(server, last)
  const search = async (query: string) => {
    const { status, body } = await read(`/requests?${query}`)
    expect(status, query).toBe(200)
    return body.data.map(({ method, route, status }: Record<string, unknown>) => `${method} ${route} ${status}`).sort()
  }
  return { search, middle, last }
}

test('filters work alone and combined', async () => {
  const log = await setUp()
  const { search, middle, last } = await makeRequests(log)
  const [me, nothing, webhook, options] = [
    'GET /v1/me 200',
    'GET (no route) 404',
    'GET /v1/webhook 403',
    'OPTIONS /v1/me 204',
  ]
  const all = [me, nothing, webhook, options]
  for (const [query, expected] of [
    ['', all],
    ['status=2xx', [me, options]],
    ['status=4xx', [nothing, webhook]],
    ['status=403', [webhook]],
    ['status=5xx', []],
    ['code=insufficient_scope', [webhook]],
    ['method=OPTIONS', [options]],
    ['route=no%20ROUTE', [nothing]],
    ['route=/v1/me', [me, options]],
    ['route=%25', []],
    [`key=${log.unscoped.key.id}`, [webhook]],
    [`key=${newUuid()}`, []],
    ['address=192.0.2.2', [nothing, webhook]],
    [`from=${middle}`, [nothing, webhook, options]],
    [`to=${middle}`, [me]],
    [`id=${last.headers.get('x-request-id')}`, [options]],
    [`id=${last.headers.get('x-request-id')?.slice(4)}`, [options]],
    ['id=nonsense', []],
    ['address=192.0.2.2&code=not_found', [nothing]],
    [`status=2xx&method=GET&from=${middle}`, []],
  ] as const) {
    expect(await search(query), query).toEqual([...expected].sort())
  }
})

test.each([
  'status=6xx',
  'status=many',
  'key=7',
  'from=yesterday',
  'from=2026-13-45T00:00Z',
  'cursor=x',
  'after=x',
  'limit=0',
  'limit=101',
  'code=A',
  'colour=red',
])('%s gets 400', async (query) => {
  const { read } = await setUp()
  expect(await read(`/requests?${query}`)).toMatchObject({
    status: 400,
    body: { error: { code: 'validation_failed' } },
  })
})

test('after= returns newer requests, and late ones from just below that row', async () => {
  const { workspace, read } = await setUp()
  await loggedRequest(server, await workspace.call('/v1/me'))
  server.clock.forward({ minutes: 1 })
  await loggedRequest(server, await workspace.call('/v1/me'))
  const first = (await read('/requests')).body
  const ids = async (cursor: string) =>
    (await read(`/requests?after=${cursor}`)).body.data.map(({ id }: { id: string }) => id)
  expect(await ids(first.newest_cursor)).toEqual([first.data[0].id])
  const newer = await workspace.call('/v1/me')
  await loggedRequest(server, newer)
  expect((await ids(first.newest_cursor)).sort()).toEqual([first.data[0].id, newer.headers.get('x-request-id')].sort())
})

test('a search without an index scans a bounded number of rows, returns searched_to, and continues from there', async () => {
  const { workspace, read } = await setUp()
  await loggedRequest(server, await workspace.call('/v1/me', from('198.51.100.7')))
  const start = server.clock.now()
  await server.db.change(
    `insert into request_log (at, id, workspace_id, key_id, method, route, status, duration_us, address)
     select $1::timestamptz + n * interval '1 ms', gen_random_uuid(), $2, $3, 'GET', '/v1/me', 200, 900, '192.0.2.1'
     from generate_series(1, 30100) as n`,
    [start, workspace.id, workspace.key.id],
  )
  const first = (await read('/requests?address=198.51.100.7')).body
  expect(first).toMatchObject({ data: [], has_more: true })
  expect(first.searched_to).toBe(new Date(start.getTime() + 101).toISOString())
  const second = (await read(`/requests?address=198.51.100.7&cursor=${first.next_cursor}`)).body
  expect(second).toMatchObject({ data: [{ address: '198.51.100.7' }], has_more: false, searched_to: null })
})

test('GET /requests/:id explains the error; a request of another workspace gets 404', async () => {
  const { workspace, read } = await setUp()
  const response = await workspace.call('/v1/nothing')
  await loggedRequest(server, response)
  const id = response.headers.get('x-request-id') ?? ''
  const { status, body } = await read(`/requests/${id}`)
  expect(status).toBe(200)
  expect(body).toMatchObject({ id, route: '(no route)', code: 'not_found', message: null, events: [] })
  expect(body.error.remedy).toMatch(/Check the path/)
  const other = await setUp()
  for (const unknown of [id, `req_${newUuid()}`, 'nonsense']) {
    expect((await other.read(`/requests/${unknown}`)).body.error).toMatchObject({ code: 'not_found' })
  }
})

test('a request that sent a message has its message; an idempotent replay does not', async () => {
  const shop = await sending.newShop()
  const developer = await signedIn(server, { workspaceId: shop.workspace.id, role: 'developer' })
  const body = { to: '+16505550123', type: 'text', text: { body: 'hello' } }
  const sendAndRead = async () => {
    const response = await shop.send(body, { 'Idempotency-Key': 'one' })
    await loggedRequest(server, response)
    const path = `/w/${shop.workspace.id}/requests/${response.headers.get('x-request-id')}`
    return [(response.body as { id: string }).id, (await developer.call(path)).body.message?.id ?? null]
  }
  const [id, linked] = await sendAndRead()
  expect(linked).toBe(id)
  expect(await sendAndRead()).toEqual([id, null])
})

test('the CSV export applies filters, escapes formulas and needs a recent confirmation', async () => {
  const { workspace, developer } = await setUp()
  await workspace.call('/v1/nothing')
  const response = await workspace.call('/v1/me', { headers: { 'user-agent': '=cmd|"/c calc"!A1' } })
  await loggedRequest(server, response)
  const path = `/w/${workspace.id}/requests.csv`
  const { status, headers, body } = await developer.call(`${path}?status=2xx`)
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(headers.get('content-disposition')).toBe('attachment; filename="requests.csv"')
  const lines = (body as string).trimEnd().split('\r\n')
  expect(lines).toHaveLength(2)
  expect(lines[0]).toBe('time,request_id,method,path,status,code,key_id,key_name,address,duration_ms,user_agent')
  expect(lines[1]).toContain(`${response.headers.get('x-request-id')},GET,/v1/me,200,,${workspace.key.id},test key`)
  expect(lines[1]?.endsWith(`,"'=cmd|""/c calc""!A1"`)).toBe(true)
  server.clock.forward({ minutes: 11 })
  expect(await developer.call(path)).toMatchObject({ status: 403, body: { error: { code: 'confirmation_required' } } })
})

test('an export that is too long ends with a line about the truncation', async () => {
  const workspace = await newWorkspace(server)
  for (let round = 0; round < 3; round++) await loggedRequest(server, await workspace.call('/v1/me'))
  const lines = async (maxRows: number) =>
    (await Array.fromAsync(exportRequests(server.db, workspace.id, new Map(), {}, maxRows)))
      .join('')
      .trimEnd()
      .split('\r\n')
  expect(await lines(3)).toHaveLength(4)
  const truncated = await lines(2)
  expect(truncated).toHaveLength(4)
  expect(truncated.at(-1)).toMatch(/^Truncated after 2 rows/)
})

async function failRequests(workspace: TestWorkspace, secret: string, times: number, address: string): Promise<void> {
  for (let round = 0; round < times; round++) {
    await loggedRequest(server, await server.call('/v1/webhook', { key: secret, ...from(address) }))
  }
  expect(workspace.id).not.toBe('')
}

test('GET /refusals groups API errors by code, with explanation, keys, addresses and trend', async () => {
  const { workspace, unscoped, read } = await setUp()
  await failRequests(workspace, unscoped.secret, 2, '192.0.2.1')
  server.clock.forward({ hours: 2 })
  await failRequests(workspace, unscoped.secret, 1, '192.0.2.2')
  const { status, body } = await read('/refusals?since=24h')
  expect(status).toBe(200)
  expect(body.step_hours).toBe(1)
  expect(body.data).toMatchObject([
    {
      code: 'insufficient_scope',
      status: 403,
      count: 3,
      keys: [{ id: unscoped.key.id, name: 'unscoped', revoked: false }],
      key_count: 1,
      addresses: ['192.0.2.1', '192.0.2.2'],
      muted: null,
    },
  ])
  const [group] = body.data
  expect(group.trend).toHaveLength(24)
  expect(group.trend.slice(-3)).toEqual([2, 0, 1])
  expect(group.remedy).not.toBe('')
  server.clock.forward({ hours: 25 })
  expect((await read('/refusals?since=24h')).body.data).toEqual([])
  expect((await read('/refusals?since=7d')).body.data).toMatchObject([{ count: 3 }])
  expect((await read('/refusals?since=30d')).body.data[0].trend).toHaveLength(30)
  expect((await read('/refusals?since=1y')).status).toBe(400)
})

test('the trend of API errors has no steps that cannot have data, whatever the range', async () => {
  const { workspace, unscoped, read } = await setUp()
  await failRequests(workspace, unscoped.secret, 1, '192.0.2.1')
  const range = 'from=0001-01-01T00:00:00Z&to=9999-12-31T00:00:00Z'
  const { body } = await read(`/refusals?${range}`)
  expect(body.step_hours).toBe(24)
  expect(body.data).toMatchObject([{ count: 1 }])
  const { trend } = body.data[0]
  expect(trend.length).toBeLessThan(3_700)
  expect(trend.reduce((sum: number, count: number) => sum + count)).toBe(1)
  expect((await read(`/refusals/insufficient_scope?${range}`)).body.trend).toEqual(trend)
  expect((await read(`/refusals?from=9999-12-31T00:00:00Z`)).body.data).toEqual([])
})

test('GET /refusals/:code returns the keys, addresses, routes and latest requests', async () => {
  const { workspace, unscoped, read } = await setUp()
  await failRequests(workspace, unscoped.secret, 2, '192.0.2.1')
  await failRequests(workspace, unscoped.secret, 1, '192.0.2.2')
  const { body } = await read('/refusals/insufficient_scope')
  expect(body).toMatchObject({
    code: 'insufficient_scope',
    count: 3,
    by_key: [{ key: { name: 'unscoped' }, count: 3 }],
    by_address: [
      { address: '192.0.2.1', count: 2 },
      { address: '192.0.2.2', count: 1 },
    ],
    by_route: [{ method: 'GET', route: '/v1/webhook', count: 3 }],
    routes_of: 3,
  })
  expect(body.samples).toHaveLength(3)
  expect((await read('/refusals/rate_limited')).status).toBe(404)
})

test('a group can be muted and unmuted; it is still counted, and both actions are audited', async () => {
  const { workspace, unscoped, developer, read } = await setUp()
  await failRequests(workspace, unscoped.secret, 1, '192.0.2.1')
  const path = `/w/${workspace.id}/refusals/insufficient_scope/mute`
  const change = (method: string) => developer.call(path, { method, body: {} })
  expect(await change('PUT')).toMatchObject({ status: 200, body: { muted: true } })
  expect(await change('PUT')).toMatchObject({ status: 200, body: { muted: true } })
  expect((await read('/refusals')).body.data).toMatchObject([{ count: 1, muted: { by: developer.email } }])
  expect(await change('DELETE')).toMatchObject({ status: 200, body: { muted: false } })
  expect((await read('/refusals')).body.data).toMatchObject([{ muted: null }])
  expect((await change('DELETE')).status).toBe(404)
  const unknown = `/w/${workspace.id}/refusals/no_such_code/mute`
  expect((await developer.call(unknown, { method: 'PUT', body: {} })).status).toBe(404)
  const entries = await server.db.rows<{ action: string; target: string }>(
    `select action, target from audit_entries where workspace_id = $1 and action like 'refusals.%' order by at, id`,
    [workspace.id],
  )
  expect(entries).toEqual([
    { action: 'refusals.mute', target: 'insufficient_scope' },
    { action: 'refusals.mute', target: 'insufficient_scope' },
    { action: 'refusals.unmute', target: 'insufficient_scope' },
  ])
})

test('the counts of a busy key are written again after ten seconds', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { workspace } = await setUp()
  const recorder = new RequestRecorder(server.db, server.runtime.log, recordedKeys)
  const record = () =>
    recorder.record({
      ...{ id: newUuid(), at: server.clock.now(), caller: { workspaceId: workspace.id, keyId: workspace.key.id } },
      ...{ method: 'GET', route: '/v1/me', status: 200, code: null, durationUs: 1, address: '::1', userAgent: null },
    })
  const counted = async () =>
    (await server.db.first<{ count: number }>('select count from traffic_hours where key_id = $1', [workspace.key.id]))
      ?.count
  record()
  await recorder.flush()
  expect(await counted()).toBe(1)
  record()
  vi.advanceTimersByTime(9_000)
  record()
  await recorder.flush()
  expect(await counted()).toBe(1)
  vi.advanceTimersByTime(1_500)
  await until('the others are written', async () => (await counted()) !== 1)
  expect(await counted()).toBe(3)
  await recorder.stop()
})

test('every request is counted once per hour, key and error code', async () => {
  const { workspace, unscoped } = await setUp()
  await workspace.call('/v1/me')
  await workspace.call('/v1/me')
  await failRequests(workspace, unscoped.secret, 1, '192.0.2.1')
  const counted = () =>
    server.db.rows(
      'select key_id, code, sum(count)::int as count from traffic_hours where workspace_id = $1 group by 1, 2 order by 3',
      [workspace.id],
    )
  const forUnscoped = { key_id: unscoped.key.id, code: 'insufficient_scope', count: 1 }
  const expected = (count: number) => [forUnscoped, { key_id: workspace.key.id, code: null, count }]
  await vi.waitFor(async () => expect(await counted()).toEqual(expected(2)), 60_000)
  // The rest is written when the service stops.
  for (let n = 0; n < 3; n++) await workspace.call('/v1/me')
  await server.api.flush()
  expect(await counted()).toEqual(expected(5))
})
