import type { StoredInboundMessage } from '@parley/contract/inbound-message'
import type { List } from '@parley/contract/page'
import { expect, test } from 'vitest'
import { eventsOf, newApp, newSender, text, webhookOf } from '../../../../testing/network-app.ts'
import { type TestShop, useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newWorkspace, type TestWorkspace } from '../../../../testing/workspace.ts'

const server = useTestServer()
const sending = useSending(server)

const list = async (workspace: Pick<TestWorkspace, 'call'>, query = '') => {
  const { status, body } = await workspace.call(`/v1/inbound_messages${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body as List<StoredInboundMessage>
}

/** A person writes to the shop, and the webhook of the network is processed. */
async function say({ account }: TestShop, phone: string, words: string): Promise<void> {
  await sending.network.control.phones.say(phone, { to: account.phoneNumber, text: words })
  await sending.network.control.idle()
}

/** A workspace with numbers that the test posts webhooks to, as the network does. */
async function newNumbers(count = 1) {
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  const senders: Awaited<ReturnType<typeof newSender>>[] = []
  for (let n = 0; n < count; n++) {
    senders.push(await newSender(server, workspace.id, app.id, String(Math.trunc(Math.random() * 1e15))))
  }
  return {
    workspace,
    ids: senders.map(({ id }) => `snd_${id}`),
    async post(messages: readonly object[], sender = 0) {
      const webhook = webhookOf(senders[sender]?.phoneNumberId ?? '', messages)
      // Without contacts, a message has the number that it names itself, or none.
      for (const { value } of webhook.entry[0]?.changes ?? []) value.contacts = []
      expect(await app.post(webhook)).toBe(200)
    },
  }
}

const seconds = (at: Date): string => String(Math.trunc(at.getTime() / 1000))
const idsOf = ({ data }: List<StoredInboundMessage>) => data.map(({ wa_message_id }) => String(wa_message_id))

test('GET /v1/inbound_messages has what message.received had, and the end of the reply window', async () => {
  const shop = await sending.newShop()
  await say(shop, '16505550123', 'hello')
  const [event] = await eventsOf(server, shop.workspace.id)
  const { data, ...rest } = await list(shop.workspace)
  expect(rest).toEqual({ object: 'list', total: 1, total_is_exact: true, has_more: false, next_cursor: null })
  const [message] = data
  const expiresAt = new Date(Date.parse(message?.received_at ?? '') + 24 * 3_600_000).toISOString()
  expect(message).toEqual({ ...event?.data, object: 'inbound_message', window_expires_at: expiresAt })
  const one = await shop.workspace.call(`/v1/inbound_messages/${message?.message_id}`)
  expect([one.status, one.body]).toEqual([200, message])
})

test('every kind of message is listed as its event had it', async () => {
  const { workspace, post } = await newNumbers()
  const at = seconds(server.clock.now())
  const from = '16505550123'
  const base = { from, timestamp: at, from_user_id: 'US.13491200000000000001' }
  await post([
    { ...text('wamid.t', 'hi'), timestamp: at, context: { forwarded: true } },
    { ...base, id: 'wamid.i', type: 'image', image: { id: '1', mime_type: 'image/png', caption: 'look' } },
    { ...base, id: 'wamid.v', type: 'audio', audio: { id: '2', mime_type: 'audio/ogg', voice: true } },
    { ...base, id: 'wamid.l', type: 'location', location: { latitude: 1.5, longitude: -2, name: 'Depot' } },
    {
      ...base,
      id: 'wamid.b',
      type: 'button',
      button: { payload: 'yes', text: 'Yes' },
      context: { id: 'wamid.unknown' },
    },
    {
      ...base,
      id: 'wamid.c',
      type: 'contacts',
      contacts: [{ name: { formatted_name: 'Bo' }, phones: [{ phone: '+1 2' }] }],
    },
    {
      ...base,
      id: 'wamid.o',
      type: 'order',
      order: {
        catalog_id: '9',
        text: 'soon',
        product_items: [{ product_retailer_id: 'A', quantity: 2, item_price: 1.25, currency: 'EUR' }],
      },
    },
    { ...base, id: 'wamid.r', type: 'reaction', reaction: { message_id: 'wamid.unknown', emoji: '👍' } },
    { ...base, id: 'wamid.g', type: 'text', text: { body: 'in a group' }, group_id: 'group-1' },
    {
      ...base,
      id: 'wamid.u',
      type: 'unsupported',
      errors: [{ code: 131051, title: 'Unsupported' }],
      unsupported: { type: 'poll_creation' },
    },
    {
      ...base,
      id: 'wamid.a',
      type: 'text',
      text: { body: 'from an ad' },
      referral: { source_type: 'ad', source_id: '7', headline: 'Sale' },
    },
  ])
  const events = await eventsOf(server, workspace.id)
  expect(events).toHaveLength(11)
  const { data } = await list(workspace, '?limit=100')
  for (const { data: expected } of events) {
    const found = data.find(({ wa_message_id }) => wa_message_id === expected.wa_message_id)
    expect(found).toMatchObject(expected)
    expect(Object.keys(found ?? {}).toSorted()).toEqual(
      [...Object.keys(expected), 'object', 'window_expires_at'].toSorted(),
    )
    expect(found?.window_expires_at === null).toBe(expected.group_id !== null)
  }
})

test('a reply and a reaction name the message that the workspace sent', async () => {
  const shop = await sending.newShop()
  await say(shop, '16505550123', 'hello')
  const sent = await shop.sendText('16505550123')
  await sending.drain()
  const { wa_message_id: waId } = await shop.look(sent.id)
  const { phones } = sending.network.control
  await phones.say('16505550123', { to: shop.account.phoneNumber, text: 'yes', replyTo: waId ?? '' })
  await phones.react('16505550123', { message: waId ?? '', emoji: '👍' })
  await sending.network.control.idle()
  const { data } = await list(shop.workspace)
  expect(data.find(({ text }) => text === 'yes')?.in_reply_to).toEqual({ wa_message_id: waId, message_id: sent.id })
  expect(data.find(({ reaction }) => reaction !== null)?.reaction).toEqual({
    emoji: '👍',
    wa_message_id: waId,
    message_id: sent.id,
  })
})

test('the filters find messages by number, person, type and time, and total counts them', async () => {
  const { workspace, ids, post } = await newNumbers(2)
  const start = server.clock.now()
  const later = (minutes: number) => new Date(start.getTime() + minutes * 60_000)
  await post([
    { ...text('wamid.1'), timestamp: seconds(start) },
    {
      from: '491701234567',
      id: 'wamid.2',
      timestamp: seconds(later(1)),
      type: 'button',
      button: { payload: 'a', text: 'A' },
    },
  ])
  server.clock.forward({ seconds: 1 })
  await post([{ ...text('wamid.3'), timestamp: seconds(later(2)) }], 1)
  // A message that the network delivers late: it was sent before the others.
  server.clock.forward({ seconds: 1 })
  await post([{ ...text('wamid.late'), timestamp: seconds(later(-60)) }])
  const found = async (query: string) => {
    const page = await list(workspace, `?${query}&order=asc`)
    expect(page.total).toBe(page.data.length)
    return idsOf(page)
  }
  expect(await found('limit=20')).toEqual(['wamid.1', 'wamid.2', 'wamid.3', 'wamid.late'])
  expect(await found(`sender_id=${ids[0]}`)).toEqual(['wamid.1', 'wamid.2', 'wamid.late'])
  expect(await found(`sender_id=${ids[1]}`)).toEqual(['wamid.3'])
  expect(await found('from=491701234567')).toEqual(['wamid.2'])
  expect(await found('from=%2B16505550123&type=text')).toEqual(['wamid.1', 'wamid.3', 'wamid.late'])
  expect(await found('type=button')).toEqual(['wamid.2'])
  expect(await found('type=order')).toEqual([])
  expect(await found(`received_after=${start.toISOString()}`)).toEqual(['wamid.2', 'wamid.3'])
  expect(await found(`received_before=${start.toISOString()}`)).toEqual(['wamid.late'])
  expect(await found(`received_after=${later(0.5).toISOString()}&received_before=${later(1.5).toISOString()}`)).toEqual(
    ['wamid.2'],
  )
  expect(await found('sender_id=snd_01890000-0000-7000-8000-000000000000')).toEqual([])
  const other = await newNumbers()
  expect(await found(`sender_id=${other.ids[0]}`)).toEqual([])
  expect(await list(other.workspace)).toMatchObject({ data: [], total: 0 })
})

test.each(['asc', 'desc'])(
  'pages of 45 messages (%s) neither skip nor repeat messages while new ones arrive',
  async (order) => {
    const { workspace, post } = await newNumbers()
    let received = 0
    const receive = async () => {
      const id = `wamid.${received++}`
      await post([{ ...text(id), timestamp: seconds(server.clock.now()) }])
      return id
    }
    const before: string[] = []
    for (let n = 0; n < 45; n++) {
      before.push(await receive())
      // Several are recorded in the same millisecond.
      if (n % 4 === 0) server.clock.forward({ ms: 1 })
    }
    const listed: string[] = []
    for (let query = `?limit=10&order=${order}`, pages = 0; pages < 8; pages++) {
      const page = await list(workspace, query)
      listed.push(...idsOf(page))
      if (page.next_cursor === null) break
      if (pages === 1) server.clock.forward({ ms: 1 })
      await receive()
      query = `?limit=10&order=${order}&cursor=${page.next_cursor}`
    }
    expect(new Set(listed).size).toBe(listed.length)
    for (const id of before) expect(listed).toContain(id)
  },
)

test('the reply window ends 24 hours after the latest private message of the person to that sender', async () => {
  const { workspace, ids, post } = await newNumbers(2)
  const start = new Date(Math.trunc(server.clock.now().getTime() / 1000) * 1000)
  const at = (minutes: number) => new Date(start.getTime() + minutes * 60_000)
  const group = { group_id: 'group-1' }
  const hidden = { from: undefined, from_user_id: 'US.13491200000000000009' }
  await post([{ ...text('wamid.first'), timestamp: seconds(start) }])
  await post([{ ...text('wamid.other'), from: '491701234567', timestamp: seconds(at(1)) }])
  await post([{ ...text('wamid.hidden'), ...hidden, timestamp: seconds(at(2)) }])
  server.clock.forward({ minutes: 10 })
  await post([{ ...text('wamid.second'), timestamp: seconds(at(10)) }])
  await post([{ ...text('wamid.group'), ...group, timestamp: seconds(at(11)) }])
  // Delivered late: it was sent before the message that was recorded before it.
  await post([{ ...text('wamid.late'), timestamp: seconds(at(-600)) }])
  await post([{ ...text('wamid.elsewhere'), timestamp: seconds(at(5)) }], 1)
  const { data } = await list(workspace)
  const windows = Object.fromEntries(data.map((each) => [each.wa_message_id, each.window_expires_at]))
  const until = (minutes: number) => at(minutes + 24 * 60).toISOString()
  expect(windows).toEqual({
    'wamid.first': until(10),
    'wamid.second': until(10),
    'wamid.late': until(10),
    'wamid.other': until(1),
    'wamid.hidden': until(2),
    'wamid.elsewhere': until(5),
    'wamid.group': null,
  })
  expect(data.find(({ wa_message_id }) => wa_message_id === 'wamid.hidden')).toMatchObject({
    from: null,
    from_user_id: hidden.from_user_id,
    sender_id: ids[0],
  })
})

test('an inbound message is not_found for other workspaces, and the API knows no message that was sent', async () => {
  const [shop, other] = [await sending.newShop(), await sending.newShop()]
  await say(shop, '16505550123', 'hello')
  const [message] = (await list(shop.workspace)).data
  const sent = await shop.sendText('16505550123')
  const get = (key: string, id = '') => server.call(`/v1/inbound_messages/${id}`, { key })
  const unknown = await get(shop.workspace.secret, 'msg_01890000-0000-7000-8000-000000000000')
  expect([unknown.status, unknown.body]).toMatchObject([404, { error: { code: 'not_found' } }])
  for (const [key, id] of [
    [other.workspace.secret, message?.message_id],
    [shop.workspace.secret, sent.id],
    [shop.workspace.secret, message?.message_id.replace('msg', 'snd')],
  ] as const) {
    const { status, body } = await get(key, id)
    expect([status, { ...(body as { error: object }).error, request_id: '' }]).toEqual([
      404,
      { ...(unknown.body as { error: object }).error, request_id: '' },
    ])
  }
  expect((await get((await shop.workspace.newKey()).secret, message?.message_id)).body).toEqual(message)
})

test.each([
  'colour=red',
  'type=poll',
  'from=me',
  'sender_id=1',
  'received_after=yesterday',
  'received_before=2026-13-45T00:00:00Z',
  'limit=101',
  'cursor=x',
])('?%s gets 400 with the name of the parameter', async (query) => {
  const workspace = await newWorkspace(server)
  const { status, body } = await workspace.call(`/v1/inbound_messages?${query}`)
  expect({ status, body }).toMatchObject({ status: 400, body: { error: { param: query.split('=')[0] } } })
})

test('reading inbound messages requires inbound:read', async () => {
  const workspace = await newWorkspace(server)
  const { secret } = await workspace.newKey({ scopes: ['messages:read', 'messages:send'] })
  for (const path of ['/v1/inbound_messages', '/v1/inbound_messages/msg_01890000-0000-7000-8000-000000000000']) {
    const { status, body } = await server.call(path, { key: secret })
    expect([status, body]).toMatchObject([403, { error: { details: { required_scope: 'inbound:read' } } }])
  }
  const reader = await workspace.newKey({ scopes: ['inbound:read'] })
  expect((await server.call('/v1/me', { key: reader.secret })).body).toMatchObject({
    key: { scopes: ['inbound:read'] },
  })
  expect((await server.call('/v1/inbound_messages', { key: reader.secret })).status).toBe(200)
})
