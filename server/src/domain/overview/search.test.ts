import type { Role } from '@parley/contract/console/permissions'
import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { anyTarget, newLine } from '../../../testing/deliveries.ts'
import { useForms } from '../../../testing/forms.ts'
import { loggedRequest } from '../../../testing/log.ts'
import { rowsRead } from '../../../testing/rows-read.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { newUuid } from '../../lib/ids.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { beginErasure, eraseDue } from '../privacy/erase.ts'
import { findTexts, type SearchLimits, searchLimits } from '../search/find.ts'
import { mergeIndexes } from '../search/merge.sql.ts'
import { createWebhook } from '../webhooks/webhooks.ts'
import { search as searchWorkspace } from './search.ts'

const server = useTestServer()
const forms = useForms(server)
const sending = forms.sending

interface Found {
  kind: string
  id: string
  title: string
  href: string
}

const searchAs = async (workspaceId: string, role: Role = 'admin') => {
  const person = await signedIn(server, { workspaceId, role })
  return async (q: string): Promise<Found[]> => {
    const { status, body } = await person.call(`/w/${workspaceId}/find?q=${encodeURIComponent(q)}`)
    expect(status, q).toBe(200)
    return body.data
  }
}

test("WhatsApp's ID finds sent and received messages of any sender of the workspace, and of no other", async () => {
  const [shop, other] = [await sending.newShop(), await sending.newShop()]
  const waMessageId = `wamid.${newUuid()}`
  const store = async ({ workspace, senderId }: typeof shop, id = newUuid()) => {
    await server.db.change(
      `insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, type, received_at, recorded_at, content)
       values ($1, $2, $3, $4, '16505550123', 'text', now(), now(), '{}')`,
      [id, workspace.id, senderId.slice(4), waMessageId],
    )
    return `msg_${id}`
  }
  await store(other)
  const sent = await shop.sendText('+16505550123')
  await server.db.change('update messages set wa_message_id = $2 where id = $1', [sent.id.slice(4), waMessageId])
  const received = await store(shop)
  const search = await searchAs(shop.workspace.id)
  expect((await search(waMessageId)).map(({ id }) => id).sort()).toEqual([sent.id, received].sort())
  expect(await search(`${waMessageId}0`)).toEqual([])
  const person = await signedIn(server, { workspaceId: shop.workspace.id, role: 'admin' })
  const list = await person.call(`/w/${shop.workspace.id}/messages?q=${waMessageId}&direction=sent`)
  expect(list.body.data.map(({ id }: Found) => id)).toEqual([sent.id])
})

test('an ID finds its record, with or without the prefix', async () => {
  const shop = await sending.newShop()
  const { workspace } = shop
  const message = await shop.sendText('+16505550123', { reference: 'order-7' })
  const logged = await loggedRequest(server, await workspace.call('/v1/me'))
  const input = { workspaceId: workspace.id, name: 'CRM', url: 'https://example.com/', events: ['message.sent'] }
  const { webhook } = await createWebhook(server.db, server.clock, server.secretKeys, anyTarget, input)
  const [template] = ((await workspace.call('/v1/templates')).body as { data: { id: string }[] }).data
  const search = await searchAs(workspace.id)
  for (const [kind, id, path] of [
    ['message', message.id, `messages/${message.id}`],
    ['sender', shop.senderId, `senders/${shop.senderId}`],
    ['template', template?.id ?? '', `templates/${template?.id}`],
    ['webhook', webhook.id, `webhooks/${webhook.id}`],
    ['request', `req_${logged.id}`, `requests?open=req_${logged.id}`],
  ] as const) {
    const expected = [expect.objectContaining({ kind, id, href: `/w/${workspace.id}/${path}` })]
    expect(await search(id), id).toEqual(expected)
    expect(await search(` ${id.slice(4)} `), id).toEqual(expected)
  }
  expect(await search(workspace.key.id)).toMatchObject([{ kind: 'key', id: workspace.key.id, title: 'test key' }])
  // A prefix limits the search to its kind.
  expect(await search(`tpl_${message.id.slice(4)}`)).toEqual([])
  expect(await search(`msg_${newUuid()}`)).toEqual([])
})

test('a phone number in any format finds the person and their latest messages', async () => {
  const shop = await sending.newShop()
  const message = await shop.sendText('+16505550177')
  const search = await searchAs(shop.workspace.id, 'member')
  for (const q of ['+16505550177', '16505550177', '+1 (650) 555-0177']) {
    expect(await search(q), q).toMatchObject([
      { kind: 'contact', title: '+16505550177', href: `/w/${shop.workspace.id}/contacts/16505550177` },
      { kind: 'message', id: message.id },
    ])
  }
  const line = await newLine(server)
  await line.write(1)
  const searchOther = await searchAs(line.workspace.id)
  expect((await searchOther('16505550123')).map(({ kind }) => kind)).toEqual(['contact', 'message'])
  expect(await searchOther('16505550177')).toEqual([])
})

test('a user ID finds a person without a phone number and their latest messages', async () => {
  const shop = await sending.newShop()
  const { control } = sending.network
  control.phones.change('16505550178', { name: 'Ana', switches: { senderIdentity: 'user_id_only' } })
  await control.phones.say('16505550178', { to: shop.account.phoneNumber, text: 'hi' })
  await control.idle()
  const { userId } = control.phones.get('16505550178')
  const { body: message } = await shop.send({ to_user_id: userId, type: 'text', text: { body: 'hi' } })
  const search = await searchAs(shop.workspace.id, 'member')
  expect(await search(userId)).toMatchObject([
    { kind: 'contact', title: 'Ana', detail: userId, href: `/w/${shop.workspace.id}/contacts/${userId}` },
    { kind: 'message', id: (message as { id: string }).id, title: `To ${userId}` },
    { kind: 'message', title: 'From Ana' },
  ])
})

test('names match by any part, case-insensitive; references match exactly', async () => {
  const shop = await sending.newShop()
  const message = await shop.sendText('+16505550123', { reference: 'order-7' })
  await shop.workspace.newKey({ name: 'Warehouse' })
  const search = await searchAs(shop.workspace.id)
  expect(await search('EHOU')).toMatchObject([{ kind: 'key', title: 'Warehouse' }])
  expect(await search('greet')).toMatchObject([{ kind: 'template', title: 'greeting' }])
  expect(await search('order-7')).toMatchObject([{ kind: 'message', id: message.id }])
  expect(await search('%')).toEqual([])
})

test('a name that looks like a phone number is found as it is written', async () => {
  const { workspace, account } = await sending.newShop()
  await workspace.newKey({ name: 'since 2026-11-15' })
  const input = { workspaceId: workspace.id, name: '10.0.12.5', url: 'https://example.com/', events: ['message.sent'] }
  await createWebhook(server.db, server.clock, server.secretKeys, anyTarget, input)
  const search = await searchAs(workspace.id)
  expect(await search('2026-11-15')).toMatchObject([{ kind: 'key', title: 'since 2026-11-15' }])
  expect(await search('10.0.12.5')).toMatchObject([{ kind: 'webhook', title: '10.0.12.5' }])
  const spaced = account.phoneNumber.replace(/(\d{4})$/, ' $1')
  expect(await search(spaced)).toMatchObject([{ kind: 'sender' }])
})

test('search returns nothing that the role or the workspace may not see', async () => {
  const shop = await sending.newShop()
  const { workspace } = shop
  await workspace.newKey({ name: 'Warehouse' })
  const message = await shop.sendText('+16505550123')
  const logged = await loggedRequest(server, await workspace.call('/v1/me'))
  const member = await searchAs(workspace.id, 'member')
  for (const q of ['Warehouse', workspace.key.id, `req_${logged.id}`]) expect(await member(q), q).toEqual([])
  expect(await member(message.id)).toHaveLength(1)
  const searchOther = await searchAs((await newWorkspace(server)).id)
  for (const q of ['Warehouse', workspace.key.id, `req_${logged.id}`, message.id, '+16505550123', shop.senderId]) {
    expect(await searchOther(q), q).toEqual([])
  }
})

test('an empty or too long query gets 400', async () => {
  const workspace = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  for (const query of ['', '?q=', `?q=${'x'.repeat(201)}`]) {
    expect((await person.call(`/w/${workspace.id}/find${query}`)).status, query).toBe(400)
  }
})

async function newShopWithTexts() {
  const shop = await sending.newShop()
  const { phones, idle } = sending.network.control
  phones.change('16505550191', { name: 'Zoë Quintero' })
  await phones.say('16505550191', { to: shop.account.phoneNumber, text: 'Where is my Blue “Bicycle”? 100% late 🚲' })
  await idle()
  const sent = await shop.sendText('16505550192', { text: { body: 'Your bicycle left the warehouse' } })
  return { ...shop, sent }
}

test('words of messages find them, in any order and case, and say where', async () => {
  const { workspace, sent } = await newShopWithTexts()
  const search = await searchAs(workspace.id, 'member')
  const titles = async (q: string) => (await search(q)).map(({ title }) => title)
  expect((await titles('bicycle')).sort()).toEqual(['From Zoë Quintero', 'To +16505550192'])
  expect(await search('WAREHOUSE bicycle')).toMatchObject([{ kind: 'message', id: sent.id }])
  for (const q of ['100%', '“blue”?', '🚲', 'blue BICY']) expect(await titles(q), q).toEqual(['From Zoë Quintero'])
  for (const q of [`'; drop table messages`, '_____', 'warehouse zebra', '\\', 'b']) {
    expect(await titles(q), q).toEqual([])
  }
})

test('a part of a name or of a number finds the contact, once', async () => {
  const { workspace, account } = await newShopWithTexts()
  await sending.network.control.phones.say('16505550191', { to: account.phoneNumber, text: 'again' })
  await sending.network.control.idle()
  const search = await searchAs(workspace.id, 'member')
  const contact = { kind: 'contact', id: '16505550191', href: `/w/${workspace.id}/contacts/16505550191` }
  for (const q of ['quin', 'QUINTERO zoë', '0191', '555-0191']) {
    const contacts = (await search(q)).filter(({ kind }) => kind === 'contact')
    expect(contacts, q).toMatchObject([{ ...contact, title: 'Zoë Quintero' }])
  }
  expect((await search('0192')).filter(({ kind }) => kind === 'contact')).toMatchObject([{ title: '+16505550192' }])
})

test('contents of another workspace are not found', async () => {
  await newShopWithTexts()
  const search = await searchAs((await newWorkspace(server)).id)
  for (const q of ['bicycle', 'quintero', '0191']) expect(await search(q), q).toEqual([])
})

/** Reads nothing but the index. */
const fromIndex: SearchLimits = { ...searchLimits, newest: 0 }

const searchIn = (workspaceId: string, q: string, limits?: SearchLimits, role: Role = 'member') =>
  searchWorkspace({ db: server.db.within(workspaceId), clock: server.clock, workspaceId, role } as never, q, limits)

test('the index finds what is found among the newest objects, with the same results', async () => {
  const { workspace, sent } = await newShopWithTexts()
  const search = await searchAs(workspace.id, 'member')
  const queries = [
    'bicycle',
    'WAREHOUSE bicycle',
    '100%',
    '🚲',
    'blue BICY',
    'quin',
    'QUINTERO zoe',
    '0191',
    '555-0191',
    '1650',
  ]
  for (const q of queries) {
    const newest = await search(q)
    expect(newest.length, q).toBeGreaterThan(0)
    expect((await searchIn(workspace.id, q, fromIndex)).data, q).toEqual(newest)
  }
  for (const limits of [searchLimits, fromIndex]) {
    const found = async (q: string) => (await searchIn(workspace.id, q, limits)).data
    expect((await found('left ware')).map(({ id }) => id)).toEqual([sent.id])
    for (const q of ['icycle', 'bicycle zebra', 'warehouse blue', '5019', 'zoeq']) expect(await found(q), q).toEqual([])
  }
})

test('accents do not matter, and words of scripts without spaces are found by a part', async () => {
  const { workspace, sendText } = await newShopWithTexts()
  const cafe = await sendText('16505550194', { text: { body: 'Das Café in der Straße' } })
  const tokyo = await sendText('16505550194', { text: { body: '明日は東京タワーへ行きます' } })
  for (const limits of [searchLimits, fromIndex]) {
    const search = async (q: string) => (await searchIn(workspace.id, q, limits)).data
    const ids = async (q: string) => (await search(q)).filter(({ kind }) => kind === 'message').map(({ id }) => id)
    for (const q of ['cafe', 'CAFÉ', 'strasse', 'Straße café']) expect(await ids(q), q).toEqual([cafe.id])
    for (const q of ['東京', '東京タワー', '塔', '東']) expect(await ids(q), q).toEqual(q === '塔' ? [] : [tokyo.id])
    expect((await search('ZOE')).map(({ title }) => title)).toContain('Zoë Quintero')
  }
})

test('orders and forms are found by their contents, and references by their parts; what a role may not read is not searched', async () => {
  const shop = await forms.newShop()
  const { phones, idle } = sending.network.control
  const phone = '16505550195'
  await shop.sendForm(phone)
  const form = await shop.fillForm(phone, { values: { item: 'Lampshade', sizes: ['large', 77123] } })
  const items = [{ retailerId: 'SKU-9_red', quantity: 1, price: 2, currency: 'EUR' }]
  await phones.order(phone, { to: shop.account.phoneNumber, catalogId: 'c1', text: 'ring twice', items })
  await idle()
  const message = await shop.sendText(phone, { reference: 'invoice/2026-0042' })
  for (const limits of [searchLimits, fromIndex]) {
    const search = async (q: string) => (await searchIn(shop.workspace.id, q, limits)).data
    const found = async (q: string) => (await search(q)).map(({ kind }) => kind)
    expect(await search('lampshade 77123')).toMatchObject([{ kind: 'form', id: form.id }])
    expect(await found('sizes')).toEqual([])
    expect(await found('sku-9_RED')).toEqual(['order'])
    expect((await found('ring twice')).sort()).toEqual(['message', 'order'])
    expect(await search('invoice 2026')).toMatchObject([{ kind: 'message', id: message.id }])
    // Today each role may read all of these kinds.
    const within = server.db.within(shop.workspace.id)
    const permitted = { workspaceId: shop.workspace.id, kinds: ['order'] as const, contacts: false, take: 5 }
    for (const q of ['lampshade', '16505550195', 'invoice']) {
      expect(await findTexts(within, { ...permitted, q }, limits), q).toMatchObject({ objects: [], contacts: [] })
    }
    expect((await findTexts(within, { ...permitted, q: 'ring twice' }, limits)).objects).toMatchObject([
      { kind: 'order' },
    ])
  }
})

test('the index of another workspace is not searched', async () => {
  const { workspace } = await newShopWithTexts()
  const other = await newShopWithTexts()
  await other.sendText('16505550196', { text: { body: 'onlyother' } })
  for (const q of ['onlyother', '0196']) expect((await searchIn(workspace.id, q, fromIndex)).data, q).toEqual([])
  expect((await searchIn(other.workspace.id, 'onlyother', fromIndex)).data).toHaveLength(1)
  // The function has no row-level security: the workspace that it is given decides, not that of the connection.
  const ids = (workspaceId: string) =>
    server.db
      .within(workspace.id)
      .rows('select id from search_ids($1, $2, $3, 10) as id', ['message', workspaceId, ['onlyother']])
  expect(await ids(workspace.id)).toEqual([])
  expect(await ids(other.workspace.id)).toHaveLength(1)
})

test('a search says that there are more results, and that the index took too long', async () => {
  const { workspace, sendText } = await newShopWithTexts()
  expect(await searchIn(workspace.id, 'zebra')).toMatchObject({ data: [], has_more: false, timed_out: false })
  for (let n = 0; n < 7; n++) await sendText('16505550193', { text: { body: `many ${n}` } })
  for (const limits of [searchLimits, fromIndex]) {
    const many = await searchIn(workspace.id, 'many', limits)
    expect(many).toMatchObject({ has_more: true, timed_out: false })
    expect(many.data).toHaveLength(5)
  }
  await server.db.transaction(async (tx) => {
    // Changes nothing, and locks the table that the index is read through.
    await tx.change('alter table search_messages disable row level security')
    const late = await searchIn(workspace.id, 'zebra', { newest: 3, indexMs: 20 })
    expect(late).toMatchObject({ data: [], timed_out: true })
  })
})

test('a search of a common and of a rare word reads few rows', async () => {
  const { workspace, senderId } = await newShopWithTexts()
  await server.db.change(
    `insert into messages (id, workspace_id, sender_id, recipient, status, created_at, sent_by, type, credits, content)
     select gen_random_uuid(), $1, $2, '165055501' || n % 90 + 10, 'queued', at, 'test', 'text', 1,
       json_build_object('request', json_build_object('text', json_build_object('body', 'parcel ' || n || case when n = 5 then ' needle' else '' end)))
     from (select n, $3::timestamptz - (10000 - n) * interval '1 second' as at from generate_series(1, 9000) as n) as made`,
    [workspace.id, senderId.slice(4), server.clock.now()],
  )
  const within = server.db.within(workspace.id)
  const searched = { workspaceId: workspace.id, kinds: ['message', 'inbound'] as const, contacts: true, take: 5 }
  for (const isMerged of [false, true]) {
    if (isMerged) await mergeIndexes(server.db)
    if (isMerged) await server.db.script('analyze messages')
    for (const [q, expected] of [
      ['needle', 1],
      ['parcel', 5],
      ['parcel needle', 1],
      ['zebra', 0],
    ] as const) {
      let count = 0
      const read = await rowsRead(within, 'messages', async (tx) => {
        count = (await findTexts(tx, { ...searched, q })).objects.length
      })
      expect(count, q).toBe(expected)
      expect(read, q).toBeLessThan(400)
    }
  }
})

test('removed contents and erased people are not found', async () => {
  const { workspace, sent } = await newShopWithTexts()
  await server.db.change(`update messages set content = '{"request":null}', content_removed_at = now() where id = $1`, [
    sent.id.slice(4),
  ])
  for (const limits of [searchLimits, fromIndex]) {
    expect((await searchIn(workspace.id, 'warehouse', limits)).data).toEqual([])
  }
  expect((await searchIn(workspace.id, 'quintero', fromIndex)).data).not.toEqual([])
  const person = { number: '16505550191' }
  await beginErasure(server.db, server.clock, { workspaceId: workspace.id, person, askedBy: 'test' })
  await eraseDue(server.db, server.clock, newLogger('silent'))
  for (const limits of [searchLimits, fromIndex]) {
    for (const q of ['quintero', '0191', '16505550191', 'blue']) {
      expect((await searchIn(workspace.id, q, limits)).data, q).toEqual([])
    }
  }
})
