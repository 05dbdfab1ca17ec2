import type { Message } from '@parley/contract/message'
import type { List } from '@parley/contract/page'
import { Parley } from '@parley/sdk/client'
import { expect, test } from 'vitest'
import { type TestShop, useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { listMessages } from './reading/messages.sql.ts'

const server = useTestServer()
const sending = useSending(server)

const list = async ({ workspace }: Pick<TestShop, 'workspace'>, query = '') =>
  (await workspace.call(`/v1/messages${query}`)).body as List<Message>

test('a message is not_found for other keys of the workspace and for other workspaces', async () => {
  const [shop, other] = [await sending.newShop(), await sending.newShop()]
  const { id } = await shop.sendText('16505550123')
  const { secret } = await shop.workspace.newKey()
  const unknown = 'msg_01890000-0000-7000-8000-000000000000'
  for (const key of [secret, other.workspace.secret]) {
    const responses = await Promise.all([id, unknown].map((each) => server.call(`/v1/messages/${each}`, { key })))
    for (const { status, body } of responses)
      expect([status, body]).toMatchObject([404, { error: { code: 'not_found' } }])
    expect((await server.call('/v1/messages', { key })).body).toMatchObject({ data: [], total: 0 })
  }
  expect(await shop.look(id)).toMatchObject({ id, status: 'queued', history: [{ status: 'queued', error: null }] })
  expect((await shop.workspace.call(`/v1/messages/${id.replace('msg', 'tpl')}`)).status).toBe(404)
})

test.each(['asc', 'desc'])(
  'pages of 45 messages (%s) neither skip nor repeat messages while new ones arrive',
  async (order) => {
    const shop = await sending.newShop(100)
    const { secret } = await shop.workspace.newKey()
    const call = (path: string, options = {}) => server.call(path, { key: secret, ...options })
    const send = async () => {
      const body = { to: '16505550123', type: 'text', text: { body: 'hi' } }
      return ((await call('/v1/messages', { method: 'POST', body })).body as Message).id
    }
    const sent: string[] = []
    for (let n = 0; n < 45; n++) sent.push(await send())
    const listed: string[] = []
    for (let query = `?limit=10&order=${order}`, pages = 0; pages < 8; pages++) {
      const page = (await call(`/v1/messages${query}`)).body as List<Message>
      listed.push(...page.data.map(({ id }) => id))
      if (page.next_cursor === null) break
      if (pages === 1) server.clock.forward({ ms: 1 })
      await send()
      query = `?limit=10&order=${order}&cursor=${page.next_cursor}`
    }
    expect(new Set(listed).size).toBe(listed.length)
    for (const id of sent) expect(listed).toContain(id)
  },
)

test('GET /v1/messages filters by status, recipient and time', async () => {
  const shop = await sending.newShop()
  const start = server.clock.now().toISOString()
  server.clock.forward({ seconds: 1 })
  const first = await shop.sendText('16505550123')
  const failing = await shop.sendText('15551131009')
  await sending.drain()
  server.clock.forward({ minutes: 1 })
  const middle = server.clock.now().toISOString()
  server.clock.forward({ minutes: 1 })
  const last = await shop.sendText('16505550123')
  const found = async (query: string) => {
    const { data, total } = await list(shop, `?${query}&order=asc`)
    expect(total).toBe(data.length)
    return data.map(({ id }) => id)
  }
  expect(await found('status=read')).toEqual([first.id])
  expect(await found('status=failed')).toEqual([failing.id])
  expect(await found('status=queued')).toEqual([last.id])
  expect(await found('to=16505550123')).toEqual([first.id, last.id])
  expect(await found('to=%2B16505550123&status=queued')).toEqual([last.id])
  expect(await found(`created_after=${middle}`)).toEqual([last.id])
  expect(await found(`created_before=${middle}`)).toEqual([first.id, failing.id])
  expect(await found(`created_after=${start}&created_before=${middle}&to=15551131009`)).toEqual([failing.id])
})

const to = '16505550123'
const order = { reference: 'order 1001' }

test('GET /v1/messages?reference= finds exactly that reference, and only messages of the calling system', async () => {
  const shop = await sending.newShop()
  const [first, second] = [await shop.sendText(to, order), await shop.sendText(to, order)]
  for (const reference of ['order 10', 'order 10011', 'Order 1001']) await shop.sendText(to, { reference })
  const other = await shop.workspace.newKey({ scopes: ['messages:send', 'messages:read'] })
  const body = { to, type: 'text', text: { body: 'hi' }, ...order }
  expect((await server.call('/v1/messages', { key: other.secret, method: 'POST', body })).status).toBe(202)
  const page = await list(shop, '?reference=order+1001&order=asc&limit=1')
  expect(page).toMatchObject({ total: 2, data: [{ id: first.id, ...order }] })
  const next = await list(shop, `?reference=order%201001&order=asc&limit=1&cursor=${page.next_cursor}`)
  expect(next.data.map(({ id }) => id)).toEqual([second.id])
  expect(await list(shop, '?reference=order+1001&status=failed')).toMatchObject({ total: 0, data: [] })
})

test('a reference is found by its index', async () => {
  const shop = await sending.newShop()
  const { id } = await shop.sendText(to, order)
  await server.db.change(
    `insert into messages select (jsonb_populate_record(messages, jsonb_build_object('id', gen_random_uuid(),
       'reference', 'order ' || n))).* from messages, generate_series(2000, 2999) as n where id = $1`,
    [id.slice(4)],
  )
  const [{ key_id = '' } = {}] = await server.db.rows<{ key_id: string }>('select key_id from messages where id = $1', [
    id.slice(4),
  ])
  const author = { workspaceId: shop.workspace.id, systemKeyIds: [key_id] }
  const page = { order: 'desc', after: null, take: 21 } as const
  const read = await server.db.transaction(async (tx) => {
    expect((await listMessages(tx, author, order, page)).rows).toHaveLength(1)
    return tx.first<{ byIndex: number; ofAll: number }>(
      `select idx_tup_fetch as "byIndex", seq_scan as "ofAll" from pg_stat_xact_user_tables
       where relid = 'messages'::regclass`,
    )
  })
  expect(read?.ofAll).toBe(0)
  // Not the other messages of the key. The statistics may include earlier statements of the session.
  expect(read?.byIndex).toBeLessThan(200)
})

test.each([
  'colour=red',
  'reference=',
  'status=lost',
  'to=me',
  'created_after=yesterday',
  'created_before=2026-13-45T00:00:00Z',
  'limit=0',
])('?%s gets 400 with the name of the parameter', async (query) => {
  const shop = await sending.newShop(0)
  const { status, body } = await shop.workspace.call(`/v1/messages?${query}`)
  expect({ status, body }).toMatchObject({ status: 400, body: { error: { param: query.split('=')[0] } } })
})

test('reading messages requires messages:read', async () => {
  const { workspace } = await sending.newShop(0)
  const { secret } = await workspace.newKey({ scopes: ['messages:send'] })
  for (const path of ['/v1/messages', '/v1/messages/msg_01890000-0000-7000-8000-000000000000']) {
    expect((await server.call(path, { key: secret })).status).toBe(403)
  }
})

test('the SDK client sends, lists and gets messages', async () => {
  const { workspace } = await sending.newShop(1)
  const { messages } = new Parley({ key: workspace.secret, baseUrl: server.url })
  const request = { to: '16505550123', type: 'text', text: { body: 'hi' } } as const
  const sent = await messages.send(request, { idempotencyKey: 'a' })
  expect(await messages.send(request, { idempotencyKey: 'a' })).toEqual(sent)
  expect(await messages.list({ status: 'queued' })).toMatchObject({ data: [sent], total: 1 })
  expect(await messages.get(sent.id)).toMatchObject({ ...sent, history: [{ status: 'queued' }] })
  await expect(messages.send(request)).rejects.toMatchObject({ status: 402, code: 'insufficient_credits' })
})
