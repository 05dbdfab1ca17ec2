import type { Message } from '@parley/contract/message'
import { expect, test } from 'vitest'
import { eventsOf, signatureOf, webhookOf } from '../../../../testing/network-app.ts'
import { type TestShop, useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { ingressPath } from '../../connections/apps.ts'
import { readBalance } from '../../credits/credits.ts'

const server = useTestServer()
const sending = useSending(server)

let phones = 0
const text = { type: 'text', text: { body: 'hi' } }

/** A person who hides their phone number, and who has written to the shop. */
async function setUp({ isHidden = true } = {}) {
  const shop = await sending.newShop()
  const { control } = sending.network
  const phone = String(16_505_560_000 + ++phones)
  control.phones.change(phone, { username: `ana.${phones}` })
  if (isHidden) control.phones.change(phone, { switches: { senderIdentity: 'user_id_only' } })
  const write = async (body = 'hello') => {
    await control.phones.say(phone, { to: shop.account.phoneNumber, text: body })
    await control.idle()
    const received = (await eventsOf(server, shop.workspace.id)).filter(({ type }) => type === 'message.received')
    return received.at(-1)?.data as Record<'message_id' | 'wa_message_id' | 'from' | 'from_user_id', string>
  }
  return { shop, phone, write, received: await write(), userId: control.phones.get(phone).userId }
}

async function sendOk(shop: TestShop, body: object): Promise<Message> {
  const { status, body: message } = await shop.send(body)
  expect([status, message]).toMatchObject([202, {}])
  await sending.drain()
  return message as Message
}

const errorsOf = async (shop: TestShop, body: object) => {
  const { body: refused } = await shop.send(body)
  return (refused as { error: { errors: { param: string; code: string }[] } }).error.errors.map(
    ({ param, code }) => `${param} ${code}`,
  )
}

test('to_user_id reaches a person without a number, and the message and its events have no number', async () => {
  const { shop, phone, received, userId } = await setUp()
  expect(received).toMatchObject({ from: null, from_user_id: userId })
  const { id } = await sendOk(shop, { ...text, to_user_id: received.from_user_id })
  expect(shop.taken(phone)).toMatchObject([{ ourId: id, content: { body: 'hi' } }])
  const expected = { to: null, to_user_id: userId }
  expect(await shop.look(id)).toMatchObject({ ...expected, status: 'read' })
  const events = (await eventsOf(server, shop.workspace.id)).filter(({ data }) => data.message_id === id)
  expect(events.map(({ data }) => data)).toMatchObject([expected, expected, expected])
  for (const [query, found] of [
    [`to_user_id=${userId}`, [id]],
    ['to_user_id=US.1', []],
    [`to=${phone}`, []],
  ] as const) {
    const { body } = await shop.workspace.call(`/v1/messages?${query}`)
    expect((body as { data: Message[] }).data.map((message) => message.id)).toEqual(found)
  }
})

test('a message to a number gets the user ID from the statuses', async () => {
  const { shop, phone, userId } = await setUp({ isHidden: false })
  const message = await sendOk(shop, { ...text, to: phone })
  expect(message).toMatchObject({ to: phone, to_user_id: null })
  expect(await shop.look(message.id)).toMatchObject({ to: phone, to_user_id: userId })
  const events = await eventsOf(server, shop.workspace.id)
  const read = events.find(({ type, data }) => type === 'message.read' && data.message_id === message.id)
  expect(read?.data).toMatchObject({ to: phone, to_user_id: userId })
})

test('a reply without a recipient goes to the person who wrote, from the number that they wrote to', async () => {
  const { shop, phone, received, userId } = await setUp()
  const { control } = sending.network
  // A second sender: without in_reply_to, a request has to name one of them.
  control.numbers.create({ wabaId: shop.account.wabaId, phoneNumber: `1555200${phones}000`, verifiedName: 'Second' })
  await server.db.change('update connections set sync_due_at = $1', [server.clock.now()])
  await sending.network.drain()
  expect(await errorsOf(shop, { ...text, to: phone })).toEqual(['sender_id missing'])
  for (const in_reply_to of [received.message_id, received.wa_message_id]) {
    const reply = await sendOk(shop, { ...text, in_reply_to })
    expect(reply).toMatchObject({ to: null, to_user_id: userId, sender_id: shop.senderId })
    expect(await shop.look(reply.id)).toMatchObject({ status: 'read' })
  }
  const chat = control.phones.messages(phone, shop.account.phoneNumber)
  expect(chat.map(({ direction, contextId }) => [direction, contextId])).toEqual([
    ['in', null],
    ['out', received.wa_message_id],
    ['out', received.wa_message_id],
  ])
})

test('a reply goes to the number if the person shows it', async () => {
  const { shop, phone, received, userId } = await setUp({ isHidden: false })
  const reply = await sendOk(shop, { ...text, in_reply_to: received.message_id })
  expect(reply).toMatchObject({ to: phone, to_user_id: userId })
  expect(shop.taken(phone)).toHaveLength(1)
})

test('a request without a recipient, or with two, is refused', async () => {
  const { shop, phone, userId } = await setUp()
  expect(await errorsOf(shop, text)).toEqual(['to missing'])
  expect(await errorsOf(shop, { ...text, to: phone, to_user_id: userId })).toEqual(['to_user_id unexpected'])
  expect(await errorsOf(shop, { ...text, to_user_id: 'ana' })).toEqual(['to_user_id invalid'])
  expect(await errorsOf(shop, { ...text, in_reply_to: 'wamid.unknown' })).toEqual(['in_reply_to not_found'])
  const ours = await sendOk(shop, { ...text, to: phone })
  expect(await errorsOf(shop, { ...text, in_reply_to: ours.id })).toEqual(['to missing'])
})

test('an authentication template needs a number, and nothing is spent without one', async () => {
  const { shop, phone, received, userId } = await setUp()
  const code = { type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy code' }
  shop.account.addTemplate({
    name: 'login',
    category: 'AUTHENTICATION',
    components: [
      { type: 'BODY', text: '*{{1}}* is your verification code.' },
      { type: 'BUTTONS', buttons: [code] },
    ],
  })
  await server.db.change('update connections set sync_due_at = $1', [server.clock.now()])
  await sending.network.drain()
  const balance = await readBalance(server.db, shop.workspace.id)
  const template = { name: 'login', language: 'en', variables: { 'body.1': '483920' } }
  const login = { type: 'template', template }
  expect(await errorsOf(shop, { ...login, to_user_id: userId })).toEqual(['to_user_id unexpected'])
  expect(await errorsOf(shop, { ...login, in_reply_to: received.message_id })).toEqual(['to missing'])
  expect(await readBalance(server.db, shop.workspace.id)).toBe(balance)
  expect((await shop.send({ ...login, to: phone })).status).toBe(202)
})

test('after the network replaced a user ID, sends and replies with the old one reach the new one', async () => {
  const { shop, phone, received, userId: first } = await setUp()
  const { control } = sending.network
  for (const userId of ['US.second', 'US.third']) {
    await control.phones.changeUserId(phone, { userId })
    await control.idle()
  }
  const sent = [
    await sendOk(shop, { ...text, to_user_id: first }),
    await sendOk(shop, { ...text, to_user_id: 'US.second' }),
    await sendOk(shop, { ...text, in_reply_to: received.message_id }),
  ]
  for (const message of sent) {
    expect(message).toMatchObject({ to: null, to_user_id: 'US.third' })
    expect(await shop.look(message.id)).toMatchObject({ status: 'read' })
  }
  expect(shop.taken(phone)).toHaveLength(3)
  // Another workspace of the same person does not follow these changes.
  const other = await sending.newShop()
  expect((await other.send({ ...text, to_user_id: first })).body).toMatchObject({ to_user_id: first })
})

test('a user ID that changes back is used again, and a repeated webhook changes nothing', async () => {
  const { shop, phone, userId: first } = await setUp()
  const number = sending.network.control.numbers.list().find(({ wabaId }) => wabaId === shop.account.wabaId)
  const change = async (previous_user_id: string, user_id: string, timestamp: string) => {
    const system = { type: 'user_changed_user_id', previous_user_id, user_id }
    const body = JSON.stringify(webhookOf(number?.id ?? '', [{ id: 'wamid.s', timestamp, type: 'system', system }]))
    const headers = { 'x-hub-signature-256': signatureOf(shop.account.appSecret, body) }
    const response = await fetch(server.url + ingressPath(shop.connection.appId), { method: 'POST', headers, body })
    expect(response.status).toBe(200)
  }
  await change(first, 'US.between', '1786000000')
  await change('US.between', first, '1786000001')
  await change(first, 'US.between', '1786000000')
  for (const userId of [first, 'US.between']) {
    expect(await sendOk(shop, { ...text, to_user_id: userId })).toMatchObject({ to_user_id: first })
  }
  expect(shop.taken(phone)).toHaveLength(2)
})

test('a reply to a person who changed their number goes to the new number', async () => {
  const { shop, phone, received } = await setUp({ isHidden: false })
  const newNumber = `${phone}9`
  await sending.network.control.phones.changeNumber(phone, { newNumber })
  await sending.network.control.idle()
  const reply = await sendOk(shop, { ...text, in_reply_to: received.message_id })
  expect(reply).toMatchObject({ to: newNumber, to_user_id: sending.network.control.phones.get(newNumber).userId })
  expect(sending.network.control.phones.messages(newNumber).at(-1)).toMatchObject({ direction: 'out' })
})
