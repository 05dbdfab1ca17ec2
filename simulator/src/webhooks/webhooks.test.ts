import { expect, test } from 'vitest'
import { arrayIn } from '../json.ts'
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
  wabaId,
} from '../testing/world.ts'

test('a callback is set only after it passed the handshake', async () => {
  const { control, receiver } = await newWorld()
  expect(receiver.handshakes[0]?.get('hub.mode')).toBe('subscribe')
  await expect(control.apps.setCallback(appId, { url: receiver.url, verifyToken: 'wrong' })).rejects.toThrow(/HTTP 403/)
  await expect(control.apps.setCallback(appId, { url: 'ftp://x.example' })).rejects.toThrow(/http or https/)
  expect(control.apps.list()[0]).toMatchObject({ callbackUrl: receiver.url, verifyToken: demoSecrets.verifyToken })
})

test('the signature covers the raw bytes, which are ASCII only', async () => {
  const { control, receiver } = await newWorld()
  await control.phones.say(phone, { to: numberId, text: 'añadir/é 👍 <b>' })
  await control.idle()
  const [received] = receiver.requests
  if (!received) throw new Error('no webhook received')
  expect(isSignedWith(demoSecrets.appSecret, received)).toBe(true)
  expect(received.raw.toString('latin1')).toContain('a\\u00f1adir\\/\\u00e9 \\ud83d\\udc4d <b>')
  expect(received.raw.every((byte) => byte < 0x7f)).toBe(true)
  expect(received.headers).toMatchObject({ 'user-agent': 'facebookexternalua', 'content-type': 'application/json' })
  expect(receiver.messages()).toMatchObject([{ text: { body: 'añadir/é 👍 <b>' } }])
})

test('the envelope has the documented structure', async () => {
  const { control, receiver } = await newWorld()
  const { id } = await control.phones.say(phone, { to: businessNumber, text: 'hi' })
  await control.idle()
  expect(receiver.requests[0]?.body).toEqual({
    object: 'whatsapp_business_account',
    entry: [
      {
        id: wabaId,
        changes: [
          {
            field: 'messages',
            value: {
              messaging_product: 'whatsapp',
              metadata: { display_phone_number: businessNumber, phone_number_id: numberId },
              contacts: [{ profile: { name: 'Ana Prueba' }, wa_id: phone, user_id: control.phones.get(phone).userId }],
              messages: [
                {
                  from: phone,
                  from_user_id: control.phones.get(phone).userId,
                  id,
                  timestamp: '1788264000',
                  type: 'text',
                  text: { body: 'hi' },
                },
              ],
            },
          },
        ],
      },
    ],
  })
})

test('a webhook is retried with the same bytes until the response is 200', async () => {
  const { control, receiver } = await newWorld()
  receiver.respondWith(500, 302, 201, 404)
  await control.phones.say(phone, { to: numberId, text: 'insist' })
  await control.idle()
  // Two attempts immediately, then the delays grow.
  expect(receiver.requests).toHaveLength(2)
  for (const waitMs of [2_000, 5_000, 10_000, 600_000]) await control.clock.advance(waitMs)
  expect(receiver.requests).toHaveLength(5)
  expect(new Set(receiver.requests.map((one) => one.raw.toString())).size).toBe(1)
  expect(control.webhooks.get().queued).toBe(0)
})

test('webhooks to an unreachable callback are dropped after seven days', async () => {
  const { control, receiver } = await newWorld()
  receiver.close()
  await control.phones.say(phone, { to: numberId, text: 'hello?' })
  await control.idle()
  control.webhooks.configure({ retryMs: [86_400_000] })
  for (let day = 0; day < 7; day++) await control.clock.advance(86_400_000)
  expect(control.webhooks.get().queued).toBe(1)
  await control.clock.advance(86_400_000)
  expect(control.webhooks.get().queued).toBe(0)
})

test('setting a callback again retries failed webhooks immediately', async () => {
  const { control, receiver } = await newWorld()
  receiver.respondWith(500, 500)
  await control.phones.say(phone, { to: numberId, text: 'missed' })
  await control.idle()
  expect(receiver.requests).toHaveLength(2)
  await control.apps.setCallback(appId, { url: receiver.url })
  await control.idle()
  expect(receiver.requests).toHaveLength(3)
  await control.clock.advance(3_600_000)
  expect(receiver.requests).toHaveLength(3)
})

test('while a callback fails, new updates are batched for a second', async () => {
  const { control, receiver } = await newWorld()
  receiver.respondWith(500, 500)
  await control.phones.say(phone, { to: numberId, text: 'fails' })
  await control.idle()
  for (const text of ['one', 'two', 'three']) {
    await control.phones.say(phone, { to: numberId, text })
    await control.clock.advance(300)
  }
  expect(receiver.requests).toHaveLength(2)
  await control.clock.advance(100)
  expect(receiver.requests).toHaveLength(3)
  expect(receiver.messages()).toHaveLength(5)
})

test('a hanging callback does not delay other apps', async () => {
  const { control, receiver } = await newWorld()
  const other = await startReceiver('other-token')
  const app = control.apps.create({ verifyToken: 'other-token' })
  const waba = control.wabas.create({ appIds: [app.id] })
  const number = control.numbers.create({ wabaId: waba.id, phoneNumber: '15550780099' })
  await control.apps.setCallback(app.id, { url: other.url })
  other.holdResponses(() => undefined)
  control.phones.say(phone, { to: number.id, text: 'into the void' })
  await control.phones.say(phone, { to: numberId, text: 'through' })
  await expect.poll(() => receiver.messages().length).toBe(1)
  other.close()
})

test('updates within the batch window arrive in one POST, across numbers and accounts', async () => {
  const { control, receiver } = await newWorld()
  const waba = control.wabas.create({ appIds: [appId] })
  const third = control.numbers.create({ wabaId: waba.id, phoneNumber: '15550780003' })
  control.webhooks.configure({ batchWindowMs: 20 })
  for (const to of [numberId, otherNumberId, third.id, numberId])
    await control.phones.say(phone, { to, text: `to ${to}` })
  await control.clock.advance(20)
  expect(receiver.requests).toHaveLength(1)
  expect(receiver.requests[0]?.body.entry.map((entry) => [entry.id, entry.changes.length])).toEqual([
    [wabaId, 2],
    [waba.id, 1],
  ])
  expect(receiver.messages()).toHaveLength(4)
  expect(receiver.changes()[0]?.value.contacts).toHaveLength(1)
})

test('a batch has at most batchSize updates', async () => {
  const { control, receiver } = await newWorld()
  control.webhooks.configure({ batchWindowMs: 20, batchSize: 10 })
  for (let count = 0; count < 25; count++) await control.phones.say(phone, { to: numberId, text: String(count) })
  await control.clock.advance(20)
  expect(receiver.requests.map((one) => arrayIn(one.body.entry[0]?.changes[0]?.value, 'messages')?.length)).toEqual([
    10, 10, 5,
  ])
})

test('messages go to the callback of the number, else the account, else the app', async () => {
  const { control, receiver, graph } = await newWorld()
  const [forWaba, forNumber] = [await startReceiver('w'), await startReceiver('n')]
  const set = await graph('POST', `${wabaId}/subscribed_apps`, {
    override_callback_uri: forWaba.url,
    verify_token: 'w',
  })
  expect(set.body).toEqual({ success: true })
  await control.phones.say(phone, { to: numberId, text: 'one' })
  await graph('POST', numberId, { webhook_configuration: { override_callback_uri: forNumber.url, verify_token: 'n' } })
  await control.phones.say(phone, { to: numberId, text: 'two' })
  await control.idle()
  expect([forWaba.messages().length, forNumber.messages().length, receiver.messages().length]).toEqual([1, 1, 0])
  expect((await graph('GET', `${numberId}?fields=webhook_configuration`)).body.webhook_configuration).toEqual({
    phone_number: forNumber.url,
    whatsapp_business_account: forWaba.url,
    application: receiver.url,
  })
  await graph('POST', numberId, { webhook_configuration: { override_callback_uri: '' } })
  await graph('POST', `${wabaId}/subscribed_apps`)
  await control.phones.say(phone, { to: numberId, text: 'three' })
  await control.idle()
  expect(receiver.messages()).toHaveLength(1)
  const failed = await graph('POST', `${wabaId}/subscribed_apps`, {
    override_callback_uri: forWaba.url,
    verify_token: 'no',
  })
  expect(failed).toMatchObject({ status: 400, body: { error: { code: 2200 } } })
  forWaba.close()
  forNumber.close()
})

test('an app that is not subscribed gets no webhooks', async () => {
  const { control, receiver, graph } = await newWorld()
  expect((await graph('GET', `${wabaId}/subscribed_apps`)).body.data).toMatchObject([
    { whatsapp_business_api_data: { id: appId } },
  ])
  await graph('DELETE', `${wabaId}/subscribed_apps`)
  await control.phones.say(phone, { to: numberId, text: 'while unsubscribed' })
  await graph('POST', `${wabaId}/subscribed_apps`)
  await control.phones.say(phone, { to: numberId, text: 'while subscribed' })
  await control.idle()
  expect(receiver.messages()).toMatchObject([{ text: { body: 'while subscribed' } }])
})

test('a full webhook queue rejects new messages and drops no updates', async () => {
  const { control, receiver, send } = await newWorld()
  control.webhooks.configure({ maxQueued: 1 })
  receiver.respondWith(500, 500)
  await control.phones.say(phone, { to: numberId, text: 'stuck' })
  await control.idle()
  expect(await send(hello)).toMatchObject({ status: 500, code: 131016 })
  await expect(control.phones.say(phone, { to: numberId, text: 'rejected' })).rejects.toThrow(/queue is full/)
  await control.clock.advance(2_000)
  expect((await send(hello)).status).toBe(200)
})
