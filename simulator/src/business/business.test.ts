import { expect, test } from 'vitest'
import { isSignedWith, startReceiver } from '../testing/receiver.ts'
import {
  appId,
  businessNumber,
  demoSecrets,
  hello,
  newWorld,
  numberId,
  otherNumberId,
  phone,
  type TestWorld,
  text,
  wabaId,
} from '../testing/world.ts'

const metadata = { display_phone_number: businessNumber, phone_number_id: numberId }
const M = { messaging_product: 'whatsapp', metadata }
const now = '1788264000'

/** The latest webhook, which must be signed, and its only change. */
async function last({ control, receiver }: TestWorld) {
  await control.idle()
  const request = receiver.requests.at(-1)
  if (!request) throw new Error('no webhook received')
  expect(isSignedWith(demoSecrets.appSecret, request)).toBe(true)
  expect(request.body).toEqual({
    object: 'whatsapp_business_account',
    entry: [{ id: wabaId, changes: [expect.anything()] }],
  })
  return request.body.entry[0]?.changes[0]
}

test('a message from the Business app is an echo with the business as its sender', async () => {
  const world = await newWorld()
  const { numbers, phones } = world.control
  const { userId } = phones.get(phone)
  const contacts = [{ profile: { name: 'Ana Prueba' }, wa_id: phone, user_id: userId }]
  const { id: question } = await phones.say(phone, { to: numberId, text: 'Open today?' })
  await world.control.idle()
  const { id } = await numbers.echo(numberId, { phone, text: 'Until six.', replyTo: question ?? '' })
  const common = { from: businessNumber, to: phone, to_user_id: userId, timestamp: now }
  expect(await last(world)).toEqual({
    field: 'smb_message_echoes',
    value: {
      ...M,
      contacts,
      message_echoes: [
        { ...common, context: { from: phone, id: question }, id, type: 'text', text: { body: 'Until six.' } },
      ],
    },
  })

  const { id: editId } = await numbers.edit(numberId, { phone, text: 'Until seven.' })
  const edited = { original_message_id: id, message: { context: { id: question }, type: 'text' } }
  expect((await last(world))?.value.message_echoes).toEqual([
    {
      ...common,
      id: editId,
      type: 'edit',
      edit: { ...edited, message: { ...edited.message, text: { body: 'Until seven.' } } },
    },
  ])
  const { id: deletionId } = await numbers.delete(businessNumber, { phone })
  expect((await last(world))?.value.message_echoes).toEqual([
    { ...common, id: deletionId, type: 'revoke', revoke: { original_message_id: id } },
  ])
  expect(phones.messages(phone)[1]).toMatchObject({
    id,
    direction: 'out',
    journey: null,
    source: 'business_app',
    content: { body: 'Until seven.' },
    edits: [{ content: { body: 'Until six.' } }],
    deletedAt: expect.any(String),
  })
  await expect(numbers.delete(numberId, { phone })).rejects.toThrow(/does not have such a message/)
  // Nothing of this is reported as a message or a status.
  await world.control.clock.advance(60_000)
  expect(world.receiver.messages()).toHaveLength(1)
  expect(world.receiver.statuses()).toEqual([])
})

test('an echo can have a file, which the business can download, and hides the number of a person as inbound messages do', async () => {
  const world = await newWorld()
  const { numbers, phones } = world.control
  const bea = phones.get('16505550199')
  await numbers.echo(numberId, { phone: bea.waId, media: 'image', caption: 'Our new menu' })
  const { message_echoes: echoes } = ((await last(world))?.value ?? {}) as {
    message_echoes?: { image: { id: string } }[]
  }
  const [echo] = echoes ?? []
  expect(echo).toMatchObject({ to_user_id: bea.userId, type: 'image', image: { caption: 'Our new menu' } })
  expect(echo).not.toHaveProperty('to')
  expect((await world.graph('GET', echo?.image.id ?? '')).status).toBe(200)
  await expect(numbers.echo(numberId, { phone })).rejects.toThrow(/text is required/)
})

test('only a number in the Business app has echoes, history and contacts', async () => {
  const { numbers } = (await newWorld()).control
  for (const attempt of [
    numbers.echo(otherNumberId, { phone, text: 'x' }),
    numbers.history(otherNumberId, {}),
    numbers.contacts(otherNumberId, {}),
  ])
    await expect(attempt).rejects.toThrow(/15550780002 is not used in the WhatsApp Business app\. Set isOnBizApp/)
})

test('while an agent handles a conversation, its messages and statuses are standby webhooks', async () => {
  const world = await newWorld()
  const { control, send, receiver } = world
  const { numbers, phones } = control
  const { userId } = phones.get(phone)
  const contacts = [{ profile: { name: 'Ana Prueba' }, wa_id: phone, user_id: userId }]
  const before = await send(hello)
  await numbers.handover(numberId, { phone, owner: 'agent' })
  const handover = {
    messaging_product: 'whatsapp',
    sender: { phone_number: phone },
    recipient: { phone_number_id: numberId, display_phone_number: businessNumber },
    timestamp: now,
  }
  expect(await last(world)).toEqual({
    field: 'messaging_handovers',
    value: {
      ...handover,
      type: 'control_taken',
      control_taken: {
        previous_owner_app_id: appId,
        previous_owner_app_role: 'business_app',
        previous_owner_role: 'escalation',
        new_owner_role: 'ai_agent',
        metadata: '',
      },
    },
  })
  expect(phones.get(phone).withAgent).toEqual([numberId])
  await expect(numbers.handover(numberId, { phone, owner: 'agent' })).rejects.toThrow(/agent already handles/)

  const { id } = await phones.say(phone, { to: numberId, text: 'Open today?' })
  const from = { from: phone, from_user_id: userId }
  expect(await last(world)).toEqual({
    field: 'standby',
    value: {
      ...M,
      standby: { contacts, messages: [{ ...from, id, timestamp: now, type: 'text', text: { body: 'Open today?' } }] },
    },
  })
  expect(phones.messages(phone).at(-1)?.receipt).toBe('taken')

  receiver.clear()
  const { id: response } = await numbers.agentSay(numberId, { phone, text: 'Until six.', replyTo: id ?? '' })
  await control.idle()
  const pricing = { billable: false, pricing_model: 'PMP', type: 'free_customer_service', category: 'service' }
  const sent = { to: phone, recipient_type: 'individual', type: 'text', text: { body: 'Until six.' } }
  const recipient = { recipient_id: phone, recipient_user_id: userId }
  expect(receiver.changes()).toEqual([
    {
      field: 'standby',
      value: {
        ...M,
        standby: {
          message_echoes: [{ id: response, timestamp: now, message: { ...sent, context: { message_id: id } } }],
        },
      },
    },
    {
      field: 'standby',
      value: {
        ...M,
        standby: { contacts, statuses: [{ id: response, status: 'sent', timestamp: now, ...recipient, pricing }] },
      },
    },
  ])
  // The status of a message that the app sent arrives in standby too.
  receiver.clear()
  await control.clock.advance(50)
  const statuses = receiver.changes().map(({ field, value }) => [field, value.standby])
  expect(statuses).toMatchObject([
    ['standby', { statuses: [{ id: before.id, status: 'delivered' }] }],
    ['standby', { statuses: [{ id: response, status: 'delivered' }] }],
  ])
  expect(receiver.statuses()).toEqual([])
  // Other conversations are not affected.
  await phones.say(phone, { to: otherNumberId, text: 'Another number' })
  expect((await last(world))?.field).toBe('messages')

  await numbers.handover(numberId, { phone, owner: 'business', summary: 'Asks when you close.', metadata: 'm-1' })
  expect((await last(world))?.value).toEqual({
    ...handover,
    type: 'control_passed',
    control_passed: {
      previous_owner_app_id: '900000000000001',
      previous_owner_app_role: 'meta_business_agent',
      previous_owner_role: 'ai_agent',
      new_owner_role: 'escalation',
      metadata: 'm-1',
      conversation_context: { type: 'summary', summary: { text: 'Asks when you close.' } },
    },
  })
  await phones.say(phone, { to: numberId, text: 'Thanks' })
  expect((await last(world))?.field).toBe('messages')
  await expect(numbers.agentSay(numberId, { phone, text: 'x' })).rejects.toThrow(/agent does not handle/)
})

test('the business can pass a conversation to the agent, and take it back', async () => {
  const world = await newWorld()
  const types = async () => (await last(world))?.value
  await world.control.numbers.handover(numberId, { phone, owner: 'agent', how: 'passed' })
  expect(await types()).toMatchObject({ type: 'control_passed', control_passed: { new_owner_role: 'ai_agent' } })
  await world.control.numbers.handover(numberId, { phone, owner: 'business', how: 'taken' })
  expect(await types()).toMatchObject({ type: 'control_taken', control_taken: { new_owner_role: 'escalation' } })
})

test('a chunk of history has threads with messages of both sides', async () => {
  const world = await newWorld()
  const { numbers, phones } = world.control
  const { userId } = phones.get(phone)
  await numbers.history(numberId, {
    phase: 1,
    chunkOrder: 3,
    progress: 55,
    threads: [
      {
        phone,
        messages: [
          { text: 'Open today?', at: '2026-08-01T10:00:00Z' },
          { from: 'business', text: 'Until six.', at: '2026-08-01T10:01:00Z', status: 'DELIVERED' },
          { at: '2026-08-01T10:02:00Z' },
          { type: 'location', content: { latitude: 1, longitude: 2 }, at: '2026-08-01T10:03:00Z' },
        ],
      },
    ],
  })
  const from = { from: phone, from_user_id: userId }
  const read = { history_context: { status: 'READ' } }
  const id = expect.stringMatching(/^wamid\./)
  expect(await last(world)).toEqual({
    field: 'history',
    value: {
      ...M,
      history: [
        {
          metadata: { phase: 1, chunk_order: 3, progress: 55 },
          threads: [
            {
              id: phone,
              messages: [
                { ...from, id, timestamp: '1785578400', type: 'text', text: { body: 'Open today?' }, ...read },
                {
                  from: businessNumber,
                  to: phone,
                  id,
                  timestamp: '1785578460',
                  type: 'text',
                  text: { body: 'Until six.' },
                  history_context: { status: 'DELIVERED' },
                },
                { ...from, id, timestamp: '1785578520', type: 'media_placeholder', ...read },
                {
                  ...from,
                  id,
                  timestamp: '1785578580',
                  type: 'location',
                  location: { latitude: 1, longitude: 2 },
                  ...read,
                },
              ],
            },
          ],
        },
      ],
    },
  })
  await numbers.history(numberId, {})
  expect((await last(world))?.value.history).toMatchObject([
    { metadata: { phase: 0, chunk_order: 1, progress: 100 }, threads: [{ id: phone, messages: { length: 3 } }] },
  ])
  await numbers.history(numberId, { declined: true })
  expect((await last(world))?.value.history).toMatchObject([{ errors: [{ code: 2593109 }] }])
})

test('contacts of the Business app are added with their names and removed without', async () => {
  const world = await newWorld()
  const { numbers, phones } = world.control
  const { userId } = phones.get(phone)
  await numbers.contacts(numberId, { phones: [phone, '16505550199'] })
  const entry = { type: 'contact', metadata: { timestamp: now } }
  expect(await last(world)).toEqual({
    field: 'smb_app_state_sync',
    value: {
      ...M,
      state_sync: [
        {
          ...entry,
          action: 'add',
          contact: {
            full_name: 'Ana Prueba',
            first_name: 'Ana',
            phone_number: phone,
            user_id: userId,
            country_code: 'US',
          },
        },
        {
          ...entry,
          action: 'add',
          contact: {
            full_name: 'Bea Díaz',
            first_name: 'Bea',
            user_id: phones.get('16505550199').userId,
            username: 'bea.diaz',
            country_code: 'US',
          },
        },
      ],
    },
  })
  await numbers.contacts(numberId, { phones: [phone], action: 'remove' })
  expect((await last(world))?.value.state_sync).toEqual([
    { ...entry, action: 'remove', contact: { phone_number: phone, user_id: userId, country_code: 'US' } },
  ])
  await numbers.contacts(numberId, {})
  expect((await last(world))?.value.state_sync).toHaveLength(3)
})

test('an unknown field arrives exactly as given, whatever its value is', async () => {
  const { control, receiver } = await newWorld()
  const values = [{ calls: [{ id: 'wacid.1' }] }, [1, 'ü'], 'text', null, { messages: 'not a list' }]
  for (const value of values) control.wabas.notify(wabaId, { field: 'calls', value })
  control.wabas.notify(wabaId, { field: 'messages', value: 7 })
  await control.idle()
  expect(receiver.changes()).toEqual([
    ...values.map((value) => ({ field: 'calls', value })),
    { field: 'messages', value: 7 },
  ])
  expect(receiver.requests.every((request) => isSignedWith(demoSecrets.appSecret, request))).toBe(true)
})

test('webhooks about a number go to the callback of the number', async () => {
  const { control, receiver, graph } = await newWorld()
  const forNumber = await startReceiver('n')
  await graph('POST', numberId, { webhook_configuration: { override_callback_uri: forNumber.url, verify_token: 'n' } })
  await control.numbers.echo(numberId, { phone, text: 'hi' })
  await control.numbers.handover(numberId, { phone, owner: 'agent' })
  await control.phones.say(phone, { to: numberId, text: 'hi' })
  control.wabas.notify(wabaId, { field: 'account_update', value: { event: 'VERIFIED_ACCOUNT' } })
  await control.idle()
  expect(forNumber.changes().map(({ field }) => field)).toEqual([
    'smb_message_echoes',
    'messaging_handovers',
    'standby',
  ])
  expect(receiver.changes().map(({ field }) => field)).toEqual(['account_update'])
  forNumber.close()
})

test('a full webhook queue rejects what the business does elsewhere, and changes nothing', async () => {
  const { control, receiver } = await newWorld()
  control.webhooks.configure({ maxQueued: 1 })
  const { id = '' } = await control.phones.say(phone, { to: numberId, text: 'before' })
  await control.idle()
  receiver.respondWith(500, 500)
  await control.phones.say(phone, { to: numberId, text: 'stuck' })
  await control.idle()
  const { numbers, phones } = control
  for (const attempt of [
    numbers.echo(numberId, { phone, text: 'x' }),
    numbers.handover(numberId, { phone, owner: 'agent' }),
    numbers.history(numberId, {}),
    numbers.contacts(numberId, {}),
    phones.edit(phone, { message: id, text: 'after' }),
    phones.delete(phone, { message: id }),
  ])
    await expect(attempt).rejects.toThrow(/queue is full/)
  expect(phones.get(phone).withAgent).toBeUndefined()
  expect(phones.messages(phone).map(({ content, edits, deletedAt }) => [content, edits, deletedAt])).toEqual([
    [{ body: 'before' }, undefined, undefined],
    [{ body: 'stuck' }, undefined, undefined],
  ])
})

test('an agent keeps the conversation when the person changes the number', async () => {
  const { control } = await newWorld()
  await control.numbers.handover(numberId, { phone, owner: 'agent' })
  await control.phones.changeNumber(phone, { newNumber: '16505550777' })
  expect(control.phones.get('16505550777').withAgent).toEqual([numberId])
})

test('a call permission request gets a reply, with the time until which calls are allowed', async () => {
  const world = await newWorld()
  const { phones } = world.control
  await phones.say(phone, { to: numberId, text: 'hi' })
  await world.send(text('no request'))
  await expect(phones.callPermission(phone, { response: 'accept' })).rejects.toThrow(/call permission request/)
  const interactive = {
    type: 'call_permission_request',
    body: { text: 'May we call you?' },
    action: { name: 'call_permission_request' },
  }
  const { id } = await world.send({ type: 'interactive', interactive })
  const respond = async (input: Parameters<typeof phones.callPermission>[1]) => {
    await phones.callPermission(phone, input)
    await world.control.idle()
    return world.receiver.messages().at(-1)
  }
  expect(await respond({ response: 'accept' })).toMatchObject({
    type: 'interactive',
    context: { from: businessNumber, id },
    interactive: {
      type: 'call_permission_reply',
      call_permission_reply: {
        response: 'accept',
        expiration_timestamp: Number(now) + 604_800,
        response_source: 'user_action',
      },
    },
  })
  expect((await respond({ message: id, response: 'reject', automatic: true }))?.interactive).toEqual({
    type: 'call_permission_reply',
    call_permission_reply: { response: 'reject', response_source: 'automatic' },
  })
})
