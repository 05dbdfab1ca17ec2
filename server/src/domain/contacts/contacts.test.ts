import type { Contact, ConversationMessage } from '@parley/contract/console/contacts'
import { roles } from '@parley/contract/console/permissions'
import { expect, test } from 'vitest'
import { type SignedInPerson, signedIn } from '../../../testing/console.ts'
import { useForms } from '../../../testing/forms.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { eraseDue } from '../privacy/erase.ts'

const server = useTestServer()
const forms = useForms(server)
const { sending } = forms

let people = 0

async function setUp() {
  const shop = await forms.newShop()
  const phone = String(16_505_571_000 + ++people)
  const { phones } = sending.network.control
  const person = await signedIn(server, { workspaceId: shop.workspace.id, role: 'developer' })
  const at = `/w/${shop.workspace.id}/contacts`
  const to = shop.account.phoneNumber
  const say = async (text: string, more: object = {}) => {
    server.clock.forward({ seconds: 1 })
    await phones.say(phone, { to, text, ...more })
    await sending.network.control.idle()
  }
  const contact = async (id = phone, by: SignedInPerson = person) => (await by.call(`${at}/${id}`)).body as Contact
  const conversation = async (id = phone, query = '') =>
    (await person.call(`${at}/${id}/messages${query}`)).body as {
      data: ConversationMessage[]
      next_cursor: string | null
    }
  /** The contact chooses in WhatsApp whether they want marketing messages. */
  const choose = async (value: 'stop' | 'resume') => {
    const { control } = sending.network
    const [number] = control.numbers.list().filter(({ wabaId }) => wabaId === shop.account.wabaId)
    control.wabas.notify(shop.account.wabaId, {
      field: 'user_preferences',
      value: {
        messaging_product: 'whatsapp',
        metadata: { display_phone_number: to, phone_number_id: number?.id },
        contacts: [{ profile: { name: 'Ana' }, wa_id: phone }],
        user_preferences: [{ wa_id: phone, category: 'marketing_messages', value, timestamp: 1_731_705_721 }],
      },
    })
    await control.idle()
  }
  return { shop, phone, phones, to, person, at, say, contact, conversation, choose }
}

test('every role can read a contact: name, number, 24-hour window and opt-out for each sender', async () => {
  const { shop, phone, phones, say, contact, choose, at } = await setUp()
  phones.change(phone, { name: 'Ana' })
  await say('hello')
  await choose('stop')
  const written = await server.db.first<{ at: Date }>(
    'select received_at as at from inbound_messages where workspace_id = $1',
    [shop.workspace.id],
  )
  for (const role of roles) {
    const reader = await signedIn(server, { workspaceId: shop.workspace.id, role })
    const found = await contact(phone, reader)
    expect(found).toMatchObject({
      phone,
      profile_name: 'Ana',
      senders: [{ id: shop.senderId, phone_number: shop.account.phoneNumber, marketing: { choice: 'stop' } }],
      erasure: null,
    })
    expect(Date.parse(found.senders[0]?.window_expires_at ?? '')).toBe((written?.at.getTime() ?? 0) + 24 * 3_600_000)
    expect((await reader.call(`${at}/${phone}/messages`)).status).toBe(200)
  }
})

test('a contact to whom messages were only sent has no window', async () => {
  const { shop, contact } = await setUp()
  const other = '16505571999'
  await shop.sendText(other)
  expect(await contact(other)).toMatchObject({ profile_name: null, senders: [{ window_expires_at: null }] })
})

test('a message in a group does not open the window', async () => {
  const { say, contact, shop } = await setUp()
  await say('in a group')
  await server.db.change(
    `update inbound_messages set content = (content::jsonb || '{"groupId":"g"}')::json where workspace_id = $1`,
    [shop.workspace.id],
  )
  expect((await contact()).senders).toMatchObject([{ window_expires_at: null }])
})

test('an unknown contact, one of another workspace and a malformed one get 404', async () => {
  const one = await setUp()
  await one.say('hello')
  const other = await setUp()
  for (const id of [one.phone, '16505579999', 'US.13491200000000000001', 'me', '0', '%00', '+16505571001']) {
    const { status, body } = await other.person.call(`${other.at}/${id}`)
    expect([id, status, body.error.code]).toEqual([id, 404, 'not_found'])
  }
  expect((await other.person.call(`${one.at}/${one.phone}`)).status).toBe(404)
  expect((await other.conversation(one.phone)).data).toEqual([])
  expect((await fetch(`${server.url}/console/api${one.at}/${one.phone}`)).status).toBe(401)
})

test('a conversation has replies, reactions, forms, orders, templates and the reason of a failure', async () => {
  const { shop, phone, phones, to, say, conversation } = await setUp()
  await say('hello')
  server.clock.forward({ seconds: 1 })
  const question = await shop.sendText(phone, { text: { body: 'How can we help?' } })
  await sending.drain()
  await phones.react(phone, { emoji: '👍' })
  await sending.network.control.idle()
  const sentTo = sending.network.control.phones.messages(phone, to)
  const ours = sentTo.find(({ direction }) => direction === 'out')
  await say('I want the blue one', { replyTo: ours?.id })
  server.clock.forward({ seconds: 1 })
  await phones.order(phone, { to, items: [{ retailerId: 'SKU-1', quantity: 2 }] })
  await sending.network.control.idle()
  server.clock.forward({ seconds: 1 })
  await shop.sendForm(phone)
  server.clock.forward({ seconds: 1 })
  await shop.fillForm(phone, { values: { full_name: 'Ana' }, files: { photos: [{ filename: 'a.png' }] } })
  const { data } = await conversation()
  const oldestFirst = data.toReversed()
  expect(oldestFirst.map(({ direction, type }) => `${direction} ${type}`)).toEqual([
    'received text',
    'sent text',
    'received unsupported',
    'received text',
    'received order',
    'sent template',
    'received interactive',
  ])
  const [, sent, reaction, reply, order, template, form] = oldestFirst
  expect(sent).toMatchObject({ id: question.id, request: { text: { body: 'How can we help?' } }, received: null })
  expect(reaction).toMatchObject({ received: { reaction: { emoji: '👍' } }, about: { id: question.id } })
  expect(reply).toMatchObject({ about: { id: question.id, preview: 'How can we help?', direction: 'sent' } })
  expect(order).toMatchObject({ received: { order: { items: [{ product_retailer_id: 'SKU-1', quantity: 2 }] } } })
  expect(order?.received?.order_id).toMatch(/^ord_/)
  expect(template).toMatchObject({ template_name: 'form', request: { type: 'template' } })
  expect(JSON.stringify(template?.components)).toContain('Please fill this in.')
  expect(form).toMatchObject({ form: { response: { full_name: 'Ana' }, files: [{ file_name: 'a.png' }] } })
  expect(form?.received?.form_id).toBe(form?.form?.id)
})

test('a failed message says why and how to fix it', async () => {
  const { shop, conversation } = await setUp()
  const undeliverable = '15550131026'
  await shop.sendText(undeliverable)
  await sending.drain()
  const { data } = await conversation(undeliverable)
  expect(data).toMatchObject([{ status: 'failed', explained: { code: 131026 } }])
  expect(data[0]?.explained?.fix).not.toBe('')
})

test('pages of a conversation neither repeat nor skip messages while new ones arrive', async () => {
  const { say, conversation, person, at, phone } = await setUp()
  for (const text of ['one', 'two', 'three']) await say(text)
  const first = await conversation(phone, '?limit=2')
  await say('four')
  const second = await conversation(phone, `?limit=2&cursor=${first.next_cursor}`)
  expect([...first.data, ...second.data].map(({ preview }) => preview)).toEqual(['three', 'two', 'one'])
  expect(second.next_cursor).toBeNull()
  for (const query of ['?limit=0', '?limit=101', '?cursor=x', '?phone=1']) {
    expect((await person.call(`${at}/${phone}/messages${query}`)).status, query).toBe(400)
  }
})

test('only an admin who confirmed who they are exports a conversation, and the audit log has an entry', async () => {
  const { shop, phones, to, conversation, person, at, phone } = await setUp()
  // More than it reads at a time.
  for (let n = 1; n <= 102; n++) await phones.say(phone, { to, text: `Number ${n}` })
  await sending.network.control.idle()
  const file = `${at}/${phone}/conversation.json`
  const admin = await signedIn(server, { workspaceId: shop.workspace.id, role: 'admin' })
  const { status, body } = await admin.call(file)
  expect(status).toBe(200)
  const first = await conversation(phone, '?limit=100')
  const second = await conversation(phone, `?limit=100&cursor=${first.next_cursor}`)
  expect(second.data).toHaveLength(2)
  expect(body).toEqual([...first.data, ...second.data])
  const entries = () =>
    server.db.rows('select actor, target, target_name from audit_entries where workspace_id = $1 and action = $2', [
      shop.workspace.id,
      'data.export',
    ])
  const entry = { actor: admin.email, target: null, target_name: 'conversation.json' }
  expect(await entries()).toEqual([entry])
  const member = await signedIn(server, { workspaceId: shop.workspace.id, role: 'member' })
  for (const reader of [person, member]) expect((await reader.call(file)).status).toBe(403)
  server.clock.forward({ minutes: 11 })
  expect((await admin.call(file)).body.error.code).toBe('confirmation_required')
  expect(await entries()).toEqual([entry])
})

test('the page of a number has what the contact wrote later without it; a user ID names a contact without a number', async () => {
  const { phone, phones, say, contact, conversation } = await setUp()
  await say('with my number')
  phones.change(phone, { username: 'ana', switches: { senderIdentity: 'user_id_only' } })
  await say('without it')
  const { userId } = phones.get(phone)
  expect(await contact()).toMatchObject({ phone, user_id: userId, username: 'ana' })
  expect((await conversation()).data.map(({ preview }) => preview)).toEqual(['without it', 'with my number'])
  expect(await contact(userId)).toMatchObject({ phone: null, user_id: userId, username: 'ana' })
  expect((await conversation(userId)).data.map(({ preview }) => preview)).toEqual(['without it'])
})

test('the 24-hour windows of two senders are separate, and the sender of the newest message is first', async () => {
  const { shop, phone, say, contact } = await setUp()
  await say('to the first')
  const other = sending.network.newAccount()
  await other.connect(shop.workspace)
  const { body } = await shop.workspace.call('/v1/senders')
  const second = (body as { data: { id: string }[] }).data.find(({ id }) => id !== shop.senderId)
  server.clock.forward({ seconds: 1 })
  await shop.sendText(phone, { sender_id: second?.id })
  const { senders } = await contact()
  expect(senders.map(({ id }) => id)).toEqual([second?.id, shop.senderId])
  expect(senders.map(({ window_expires_at }) => window_expires_at !== null)).toEqual([false, true])
})

test('a contact who is being erased says so, and whether it waits; afterwards there is none', async () => {
  const { shop, phone, say, contact, at } = await setUp()
  const admin = await signedIn(server, { workspaceId: shop.workspace.id, role: 'admin' })
  const erasures = `/w/${shop.workspace.id}/erasures`
  await say('my secret')
  expect((await admin.call(erasures, { method: 'POST', body: { phone } })).status).toBe(202)
  expect(await contact()).toMatchObject({ erasure: { waits: false } })
  // Queued before, by a request that was committed late.
  const queued = await shop.sendText(phone)
  await server.db.change(`update messages set created_at = created_at - interval '1 hour' where id = $1`, [
    queued.id.slice(4),
  ])
  expect(await contact()).toMatchObject({ erasure: { waits: true } })
  expect((await admin.call(erasures)).body.data).toMatchObject([{ ended_at: null, waits: true }])
  await sending.drain()
  server.clock.forward({ seconds: 6 })
  await eraseDue(server.db, server.clock, newLogger('silent'))
  expect((await admin.call(`${at}/${phone}`)).status).toBe(404)
  expect((await admin.call(erasures)).body.data).toMatchObject([{ waits: false }])
})

test('responses of the console say the time of the service', async () => {
  const { person, at } = await setUp()
  const { headers } = await person.call(`${at}/1650`)
  expect(headers.get('x-service-time')).toBe(server.clock.now().toISOString())
})
