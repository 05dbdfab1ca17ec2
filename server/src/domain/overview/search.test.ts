import type { Role } from '@parley/contract/console/permissions'
import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { anyTarget, newLine } from '../../../testing/deliveries.ts'
import { loggedRequest } from '../../../testing/log.ts'
import { useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { newUuid } from '../../lib/ids.ts'
import { createWebhook } from '../webhooks/webhooks.ts'
import { search as searchWorkspace } from './search.ts'

const server = useTestServer()
const sending = useSending(server)

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
    ['sender', shop.senderId, `messages?sender=${shop.senderId}`],
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
    { kind: 'contact', title: userId, href: `/w/${shop.workspace.id}/contacts/${userId}` },
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
  for (const q of ['100%', '“bicycle”?', '🚲', 'blue BICY']) expect(await titles(q), q).toEqual(['From Zoë Quintero'])
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

test('a search reads the newest rows only, and says how far it went', async () => {
  const { workspace, sendText } = await newShopWithTexts()
  server.clock.forward({ minutes: 1 })
  const newest = await sendText('16505550193', { text: { body: 'nothing to see' } })
  const viewer = { db: server.db.within(workspace.id), clock: server.clock, workspaceId: workspace.id, role: 'member' }
  const found = (look: number) => searchWorkspace(viewer as never, 'warehouse', look)
  expect(await found(1)).toMatchObject({ data: [], searched_to: newest.created_at, timed_out: false })
  const all = await found(100)
  expect(all).toMatchObject({ searched_to: null })
  expect(all.data).toHaveLength(1)
})

test('removed contents are not found', async () => {
  const { workspace, sent } = await newShopWithTexts()
  await server.db.change(`update messages set content = '{"request":null}', content_removed_at = now() where id = $1`, [
    sent.id.slice(4),
  ])
  expect(await (await searchAs(workspace.id))('warehouse')).toEqual([])
})
