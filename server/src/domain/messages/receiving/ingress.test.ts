import { type EventType, eventSchemas } from '@parley/contract/events'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { anyTarget } from '../../../../testing/deliveries.ts'
import { fixture } from '../../../../testing/fixtures.ts'
import { eventsOf, newApp, newSender, signatureOf, text } from '../../../../testing/network-app.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newWorkspace } from '../../../../testing/workspace.ts'
import { plainSchema } from '../../../lib/field-errors.ts'
import { newUuid } from '../../../lib/ids.ts'
import { seal } from '../../../lib/seal.ts'
import { createWebhook } from '../../webhooks/webhooks.ts'
import { newEarlyStatusSweep } from './early-statuses.ts'

const server = useTestServer()

const envelope = (...entry: object[]) => ({ object: 'whatsapp_business_account', entry })
const change = (phoneNumberId: string, value: object) => ({
  field: 'messages',
  value: { messaging_product: 'whatsapp', metadata: { phone_number_id: phoneNumberId }, ...value },
})
const status = (id: string, name: string, timestamp = '1786000001', more: object = {}) => ({
  id,
  status: name,
  timestamp,
  recipient_id: '16505550123',
  ...more,
})

async function newNumber(phoneNumberId: string = String(Math.trunc(Math.random() * 1e15))) {
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  const sender = await newSender(server, workspace.id, app.id, phoneNumberId)
  const postMessages = (...messages: object[]) =>
    app.post(envelope({ id: '1', changes: [change(phoneNumberId, { messages })] }))
  const postStatuses = (...statuses: object[]) =>
    app.post(envelope({ id: '1', changes: [change(phoneNumberId, { statuses })] }))
  return { workspace, app, sender, postMessages, postStatuses }
}

async function sentMessage(workspaceId: string, senderId: string, waMessageId: string | null): Promise<string> {
  const id = newUuid()
  await server.db.change(
    `insert into messages (id, workspace_id, sender_id, recipient, status, wa_message_id, created_at, key_id, type,
       credits, content)
     select $1, $2, $3, '16505550123', $4, $5, $6, id, 'text', 0, '{}' from api_keys where workspace_id = $2`,
    [id, workspaceId, senderId, waMessageId === null ? 'queued' : 'sent', waMessageId, server.clock.now()],
  )
  if (waMessageId !== null) {
    await server.db.change(
      `insert into message_statuses (message_id, workspace_id, status, occurred_at) values ($1, $2, 'sent', $3)`,
      [id, workspaceId, server.clock.now()],
    )
  }
  return id
}

test('a message gives one message.received event with all fields', async () => {
  const { workspace, sender, postMessages } = await newNumber()
  expect(await postMessages(text('wamid.A'))).toBe(200)
  const [event, ...more] = await eventsOf(server, workspace.id)
  expect(more).toEqual([])
  expect(event).toMatchObject({
    type: 'message.received',
    created_at: server.clock.now().toISOString(),
    data: {
      wa_message_id: 'wamid.A',
      from: '16505550123',
      from_user_id: null,
      username: null,
      profile_name: null,
      sender_id: `snd_${sender.id}`,
      group_id: null,
      type: 'text',
      text: 'hola',
      received_at: '2026-08-06T07:06:40.000Z',
      forwarded: false,
      in_reply_to: null,
      reply: null,
      media: null,
      location: null,
      contacts: null,
      order: null,
      reaction: null,
      referral: null,
      unsupported: null,
    },
  })
  expect(schemaErrors(event)).toBeNull()
})

function schemaErrors(event: { type: string } | undefined) {
  const validate = new Ajv2020({ strict: false }).compile(plainSchema(eventSchemas[event?.type as EventType]))
  validate(event)
  return validate.errors
}

describe('message.received has what real payloads contain', () => {
  test.each<[string, Record<string, unknown>]>([
    [
      'own/bsuid-only-text.json',
      { from: null, from_user_id: 'US.13491200000000000001', username: 'ana.prueba', type: 'text' },
    ],
    [
      'own/contacts-request-reply.json',
      {
        type: 'contacts',
        contacts: [
          {
            name: null,
            phones: [{ phone: '+1 650-555-0123', wa_id: '16505550123', type: 'CELL' }],
            emails: [],
            origin: 'contact_request',
          },
        ],
      },
    ],
    ['david-lev__pywa/message--forwarded-many-times.json', { forwarded: true, in_reply_to: null }],
    [
      'david-lev__pywa/message--voice.json',
      {
        type: 'audio',
        media: {
          voice: true,
          sha256: '9b4e2915fd8445d6a8a53c859063c0d3e6d7de2f986367588151703a00cb4832',
        },
      },
    ],
    [
      'david-lev__pywa/message--order.json',
      {
        type: 'order',
        order: {
          items: [
            { product_retailer_id: 'HAMBURGER', quantity: 3, item_price: 30, currency: 'ILS' },
            { product_retailer_id: 'FRENCH_FRIES', quantity: 2, item_price: 35, currency: 'ILS' },
            { product_retailer_id: 'SODA', quantity: 2, item_price: 10, currency: 'ILS' },
          ],
        },
      },
    ],
    [
      'david-lev__pywa/message--reaction.json',
      {
        type: 'unsupported',
        text: null,
        reaction: { emoji: '😮', wa_message_id: 'wamid.yzxyzx=', message_id: null },
        unsupported: null,
      },
    ],
    [
      'netflie__whatsapp-cloud-api/a-removed-reaction-notification.json',
      { reaction: { emoji: null, wa_message_id: 'MESSAGE_ID', message_id: null }, unsupported: null },
    ],
    [
      'own/unsupported-poll.json',
      {
        type: 'unsupported',
        unsupported: { type: 'poll_creation', code: 131051, title: 'Message type unknown' },
        reaction: null,
      },
    ],
    [
      'david-lev__pywa/message--referral.json',
      {
        referral: {
          source_type: 'ad or post',
          source_id: 'ADID',
          source_url: 'AD_OR_POST_FB_URL',
          headline: 'AD_TITLE',
          body: 'AD_DESCRIPTION',
          ctwa_clid: 'CTWA_CLID',
        },
      },
    ],
    [
      'WhatsApp__WhatsApp-Flows-Tools/webhook-received-contact-messages.json',
      { type: 'contacts', contacts: [{ name: '<CONTACT_FORMATTED_NAME>' }], unsupported: null },
    ],
  ])('%s', async (path, expected) => {
    const payload = JSON.stringify(fixture(path))
    const phoneNumberId = /"phone_number_id":"([^"]+)"/.exec(payload)?.[1]
    const { workspace, app } = await newNumber(phoneNumberId)
    expect(await app.post(payload)).toBe(200)
    const [event] = await eventsOf(server, workspace.id)
    expect(event?.data).toMatchObject(expected)
    expect(schemaErrors(event)).toBeNull()
  })
})

test('a reaction to a message of ours has its message_id', async () => {
  const { workspace, sender, postMessages } = await newNumber()
  const id = await sentMessage(workspace.id, sender.id, 'wamid.OURS')
  const reaction = { message_id: 'wamid.OURS', emoji: '👍' }
  await postMessages({ from: '16505550123', id: 'wamid.A', timestamp: '1786000000', type: 'reaction', reaction })
  const [event] = await eventsOf(server, workspace.id)
  expect(event?.data).toMatchObject({
    reaction: { emoji: '👍', wa_message_id: 'wamid.OURS', message_id: `msg_${id}` },
    in_reply_to: null,
  })
})

test('a reaction that names no message has no message_id, even if it quotes a message of ours', async () => {
  const { workspace, sender, postMessages } = await newNumber()
  const id = await sentMessage(workspace.id, sender.id, 'wamid.OURS')
  const message = { from: '16505550123', timestamp: '1786000000', type: 'reaction', context: { id: 'wamid.OURS' } }
  await postMessages({ ...message, id: 'wamid.A', reaction: { emoji: '👍' } })
  await postMessages({ ...message, id: 'wamid.B', reaction: { emoji: '👍', message_id: 'wamid.OTHER' } })
  const quoted = { wa_message_id: 'wamid.OURS', message_id: `msg_${id}` }
  expect((await eventsOf(server, workspace.id)).map(({ data }) => [data.reaction, data.in_reply_to])).toEqual([
    [{ emoji: '👍', wa_message_id: null, message_id: null }, quoted],
    [{ emoji: '👍', wa_message_id: 'wamid.OTHER', message_id: null }, quoted],
  ])
})

test('a message in a group has the group_id', async () => {
  const { workspace, postMessages } = await newNumber()
  await postMessages({ ...text('wamid.A'), group_id: 'Y2FwaV9ncm91cDox' })
  const [event] = await eventsOf(server, workspace.id)
  expect(event?.data).toMatchObject({ from: '16505550123', group_id: 'Y2FwaV9ncm91cDox' })
})

test('status events and the message have the pricing, even if a repeated status brings it', async () => {
  const { workspace, sender, postStatuses } = await newNumber()
  const id = await sentMessage(workspace.id, sender.id, 'wamid.P')
  const look = async () => (await workspace.call(`/v1/messages/msg_${id}`)).body
  expect(await look()).toMatchObject({ status: 'sent', pricing: null })
  const pricing = { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' }
  // The response of the send call has already set `sent`.
  await postStatuses(status('wamid.P', 'sent', '1786000001', { pricing }))
  const billed = { category: 'utility', type: 'regular', model: 'PMP', billable: true, cost: null }
  expect(await look()).toMatchObject({ status: 'sent', pricing: billed })
  expect(await eventsOf(server, workspace.id)).toEqual([])
  await postStatuses(status('wamid.P', 'delivered', '1786000002'))
  const changed = { pricing_model: 'PMP', type: 'free_customer_service', category: 'service' }
  await postStatuses(status('wamid.P', 'read', '1786000003', { pricing: changed }))
  const events = await eventsOf(server, workspace.id)
  const last = { category: 'service', type: 'free_customer_service', model: 'PMP', billable: null, cost: null }
  expect(events.map((event) => [event.type, event.data.pricing])).toEqual([
    ['message.delivered', billed],
    ['message.read', last],
  ])
  expect(events.map(schemaErrors)).toEqual([null, null])
  expect(await look()).toMatchObject({ status: 'read', pricing: last })
})

test('a status that waits for its message keeps its pricing', async () => {
  const { workspace, sender, postStatuses } = await newNumber()
  const pricing = { pricing_model: 'CBP', category: 'service' }
  await postStatuses(status('wamid.W', 'delivered', '1786000002', { pricing }))
  await sentMessage(workspace.id, sender.id, 'wamid.W')
  await newEarlyStatusSweep(server.clock)(server.db)
  const [event] = await eventsOf(server, workspace.id)
  expect(event?.data.pricing).toEqual({ category: 'service', type: null, model: 'CBP', billable: null, cost: null })
})

test('a message that the network repeats gives one event', async () => {
  const { workspace, postMessages } = await newNumber()
  await Promise.all(Array.from({ length: 20 }, () => postMessages(text('wamid.A'), text('wamid.A'), text('wamid.B'))))
  await postMessages(text('wamid.A'))
  const events = await eventsOf(server, workspace.id)
  expect(events.map((event) => event.data.wa_message_id).sort()).toEqual(['wamid.A', 'wamid.B'])
})

test('a batch for two workspaces is routed to each, even if it is mixed and repeated', async () => {
  const app = await newApp(server)
  const workspaces = [await newWorkspace(server), await newWorkspace(server)]
  const numbers = ['700000000000001', '700000000000002']
  const senders = await Promise.all(
    workspaces.map((workspace, index) => newSender(server, workspace.id, app.id, numbers[index] as string)),
  )
  const ids = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      sentMessage(workspaces[n % 2]?.id as string, senders[n % 2]?.id as string, `wamid.OUT${n}`),
    ),
  )
  // 3 entries × 2 changes × 5 messages, a duplicate among each five; 20 statuses spread over them.
  const batch = envelope(
    ...[0, 1, 2].map((entry) => ({
      id: String(entry),
      changes: [0, 1].map((which) =>
        change(numbers[which] as string, {
          messages: [0, 1, 2, 3, 3].map((n) => text(`wamid.${entry}.${which}.${n}`)),
          statuses: Array.from({ length: 20 }, (_, n) => n)
            .filter((n) => n % 3 === entry && n % 2 === which)
            .flatMap((n) => [status(`wamid.OUT${n}`, 'delivered'), status(`wamid.OUT${n}`, 'delivered')]),
        }),
      ),
    })),
  )
  expect(await app.post(batch)).toBe(200)
  expect(await app.post(batch)).toBe(200)
  for (const [which, workspace] of workspaces.entries()) {
    const events = await eventsOf(server, workspace.id)
    const received = events.filter((event) => event.type === 'message.received')
    const delivered = events.filter((event) => event.type === 'message.delivered')
    const expected = [0, 1, 2].flatMap((entry) => [0, 1, 2, 3].map((n) => `wamid.${entry}.${which}.${n}`))
    expect(received.map((event) => event.data.wa_message_id).sort()).toEqual(expected.sort())
    const messageIds = ids.filter((_, n) => n % 2 === which).map((id) => `msg_${id}`)
    expect(delivered.map((event) => event.data.message_id).sort()).toEqual(messageIds.sort())
    expect(events.length).toBe(received.length + delivered.length)
  }
})

test('a reply to a message of ours has its message_id, any other reply only the wa_message_id', async () => {
  const { workspace, sender, postMessages } = await newNumber()
  const id = await sentMessage(workspace.id, sender.id, 'wamid.OURS')
  await postMessages(
    { ...text('wamid.A'), context: { id: 'wamid.OURS' } },
    { ...text('wamid.B'), context: { id: 'wamid.ELSE' } },
    { ...text('wamid.C'), context: { forwarded: true } },
  )
  const events = await eventsOf(server, workspace.id)
  expect(events.map((event) => event.data.in_reply_to)).toEqual([
    { wa_message_id: 'wamid.OURS', message_id: `msg_${id}` },
    { wa_message_id: 'wamid.ELSE', message_id: null },
    null,
  ])
})

test('a message never goes back to an earlier status, and each status is published once', async () => {
  const { workspace, sender, postStatuses } = await newNumber()
  const id = await sentMessage(workspace.id, sender.id, 'wamid.S')
  const start = Math.ceil(server.clock.now().getTime() / 1000)
  const at = (seconds: number) => String(start + seconds)
  const time = (seconds: number, ms: number) => new Date((start + seconds) * 1000 + ms)
  await postStatuses(status('wamid.S', 'read', at(9)))
  await postStatuses(status('wamid.S', 'delivered', at(3)), status('wamid.S', 'sent', at(1)))
  await postStatuses(status('wamid.S', 'failed', at(10), { errors: [{ code: 131026, title: 'x' }] }))
  await postStatuses(status('wamid.S', 'read', at(11)))
  const message = await server.db.first(
    'select status, delivered_at, read_at, failed_at, error from messages where id = $1',
    [id],
  )
  expect(message).toEqual({
    status: 'read',
    delivered_at: time(3, 2),
    read_at: time(9, 3),
    failed_at: null,
    error: null,
  })
  const events = await eventsOf(server, workspace.id)
  expect(events.map((event) => [event.type, event.data.occurred_at])).toEqual([
    ['message.read', time(9, 3).toISOString()],
    ['message.delivered', time(3, 2).toISOString()],
  ])
})

test('a failed status has the network’s error, and a later delivered status overrides it', async () => {
  const { workspace, sender, postStatuses } = await newNumber()
  const id = await sentMessage(workspace.id, sender.id, 'wamid.F')
  const errors = [{ code: 131026, title: 'Undeliverable', message: 'Undeliverable', error_data: { details: 'why' } }]
  await postStatuses(status('wamid.F', 'failed', '1786000002', { errors }))
  const [failed] = await eventsOf(server, workspace.id)
  expect(failed).toMatchObject({
    type: 'message.failed',
    data: { error: { code: 131026, title: 'Undeliverable', message: 'Undeliverable', details: 'why' } },
  })
  await postStatuses(status('wamid.F', 'delivered', '1786000005'))
  expect(await server.db.first('select status, error from messages where id = $1', [id])).toEqual({
    status: 'delivered',
    error: null,
  })
})

test('a status that arrives before the response of the send call is matched by our message ID', async () => {
  const { workspace, sender, postStatuses } = await newNumber()
  const id = await sentMessage(workspace.id, sender.id, null)
  await postStatuses(status('wamid.EARLY', 'sent', '1786000001', { biz_opaque_callback_data: `msg_${id}` }))
  expect(await server.db.first('select status, wa_message_id from messages where id = $1', [id])).toEqual({
    status: 'sent',
    wa_message_id: 'wamid.EARLY',
  })
  const events = await eventsOf(server, workspace.id)
  expect(events.map((event) => event.type)).toEqual(['message.sent'])
})

test('a status without our ID is stored until its message is known, and statuses of other apps publish nothing', async () => {
  const { workspace, sender, postStatuses } = await newNumber()
  await postStatuses(status('wamid.LATE', 'delivered'), status('wamid.OTHER', 'delivered'))
  expect(await eventsOf(server, workspace.id)).toEqual([])
  await sentMessage(workspace.id, sender.id, 'wamid.LATE')
  await newEarlyStatusSweep(server.clock)(server.db)
  await newEarlyStatusSweep(server.clock)(server.db)
  const events = await eventsOf(server, workspace.id)
  expect(events.map((event) => [event.type, event.data.wa_message_id])).toEqual([['message.delivered', 'wamid.LATE']])
})

test.each([
  ['missing', () => null],
  ['of another secret', (bytes: string) => signatureOf('other', bytes)],
  ['truncated', (bytes: string, secret: string) => signatureOf(secret, bytes).slice(0, -2)],
  ['in upper case', (bytes: string, secret: string) => signatureOf(secret, bytes).toUpperCase()],
  ['of a body that differs by one byte', (bytes: string, secret: string) => signatureOf(secret, `${bytes} `)],
  ['of the old SHA-1 kind', () => 'sha1=da39a3ee5e6b4b0d3255bfef95601890afd80709'],
])('a webhook whose signature is %s gets 401 and nothing is stored', async (_, sign) => {
  const { workspace, app, sender } = await newNumber()
  const body = envelope({ id: '1', changes: [change(sender.phoneNumberId, { messages: [text('wamid.A')] })] })
  const bytes = JSON.stringify(body)
  expect(await app.post(bytes, { signature: sign(bytes, app.secret) })).toBe(401)
  expect(await eventsOf(server, workspace.id)).toEqual([])
})

test('an update for a number of another app or an unknown number gets 200 and publishes nothing', async () => {
  const { workspace, sender } = await newNumber()
  const otherApp = await newApp(server)
  const at = (phoneNumberId: string) =>
    envelope({ id: '1', changes: [change(phoneNumberId, { messages: [text('wamid.A')] })] })
  expect(await otherApp.post(at(sender.phoneNumberId))).toBe(200)
  expect(await otherApp.post(at('999'))).toBe(200)
  expect(await eventsOf(server, workspace.id)).toEqual([])
  expect(await server.db.rows('select 1 from inbound_messages where workspace_id = $1', [workspace.id])).toEqual([])
})

test('a cached app or number is not used after it changes', async () => {
  const { workspace, app, sender, postMessages } = await newNumber()
  await postMessages(text(`wamid.${newUuid()}`))
  await postMessages(text(`wamid.${newUuid()}`))
  expect(await eventsOf(server, workspace.id)).toHaveLength(2)

  const unknown = String(Math.trunc(Math.random() * 1e15))
  const toUnknown = () =>
    app.post(envelope({ id: '1', changes: [change(unknown, { messages: [text(`wamid.${newUuid()}`)] })] }))
  expect(await toUnknown()).toBe(200)
  expect(await toUnknown()).toBe(200)
  const other = await newWorkspace(server)
  await newSender(server, other.id, app.id, unknown)
  await toUnknown()
  expect(await eventsOf(server, other.id)).toHaveLength(1)

  // The number moves to another workspace: the first workspace gets no more messages.
  await server.db.change('update senders set workspace_id = $2, phone_number_id = $3 where id = $1', [
    sender.id,
    other.id,
    '7',
  ])
  expect(await postMessages(text(`wamid.${newUuid()}`))).toBe(200)
  expect(await eventsOf(server, workspace.id)).toHaveLength(2)

  const sealed = seal(server.secretKeys, 'another', `apps/${app.id}/app_secret`)
  await server.db.change('update apps set app_secret_sealed = $2 where id = $1', [app.id, sealed])
  expect(await toUnknown()).toBe(401)
  expect(await eventsOf(server, other.id)).toHaveLength(1)
})

test('each endpoint that subscribes gets a delivery, which is held if the endpoint is disabled', async () => {
  const { workspace, postMessages } = await newNumber()
  const make = (events: string[]) =>
    createWebhook(server.db, server.clock, server.secretKeys, anyTarget, {
      workspaceId: workspace.id,
      name: 'x',
      url: 'https://example.com/hook',
      events,
    })
  const listening = await make(['message.received', 'message.read'])
  const held = await make(['message.received'])
  await make(['message.read'])
  await server.db.change(`update webhooks set enabled = false where id = $1`, [held.webhook.id.slice(4)])
  await postMessages(text('wamid.A'))
  const [event] = await eventsOf(server, workspace.id)
  const deliveries = await server.db.rows<{ webhook_id: string; visited: boolean; event_id: string }>(
    `select webhook_id, event_id, exists (select from endpoint_visits v where v.webhook_id = d.webhook_id) as visited
     from deliveries d where workspace_id = $1`,
    [workspace.id],
  )
  expect(new Map(deliveries.map((each) => [`whk_${each.webhook_id}`, each.visited]))).toEqual(
    new Map([
      [listening.webhook.id, true],
      [held.webhook.id, false],
    ]),
  )
  expect(deliveries.every((each) => each.event_id === event?.id)).toBe(true)
})

test('the handshake returns the challenge only for the right verify token', async () => {
  const app = await newApp(server)
  const handshake = async (token: string, id = app.id) => {
    const query = new URLSearchParams({
      'hub.mode': 'subscribe',
      'hub.challenge': '1158201444',
      'hub.verify_token': token,
    })
    const response = await fetch(`${server.url}/network/whatsapp/${id}?ignored=?&${query}`)
    return [response.status, await response.text()]
  }
  expect(await handshake(`token-${app.secret}`)).toEqual([200, '1158201444'])
  expect((await handshake('wrong'))[0]).toBe(403)
  expect((await handshake(`token-${app.secret}`, newUuid()))[0]).toBe(403)
})
