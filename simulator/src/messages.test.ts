import { expect, test } from 'vitest'
import { hello, newWorld, numberId, phone, text } from './testing/world.ts'

test('a message that is sent is reported as sent, then delivered, then read', async () => {
  const { send, control, receiver } = await newWorld()
  const { id, status, body } = await send({ ...hello, biz_opaque_callback_data: 'order 7' })
  expect(status).toBe(200)
  expect(body).toEqual({
    messaging_product: 'whatsapp',
    contacts: [{ input: `+${phone}`, wa_id: phone }],
    messages: [{ id, message_status: 'accepted' }],
  })
  await control.clock.advance(50)
  await control.clock.advance(1000)
  const statuses = receiver.statusesOf(id)
  expect(statuses.map((one) => one.status)).toEqual(['sent', 'delivered', 'read'])
  expect(statuses.map((one) => one.biz_opaque_callback_data)).toEqual(['order 7', 'order 7', 'order 7'])
  expect(statuses.map((one) => 'pricing' in one)).toEqual([true, true, false])
})

test('what a phone says arrives as a message', async () => {
  const { control, receiver } = await newWorld()
  const { id } = await control.phones.say(phone, { to: numberId, text: 'hola' })
  await control.idle()
  expect(receiver.messages()).toMatchObject([{ id, from: phone, type: 'text', text: { body: 'hola' } }])
})

test('within 24 hours of the last word free text is delivered, after them it fails with 131047', async () => {
  const { control, receiver, send } = await newWorld()
  await control.phones.say(phone, { to: numberId, text: 'hola' })
  await control.clock.advance(24 * 3_600_000 - 1)
  const inTime = await send(text('still here'))
  await control.clock.advance(1)
  const late = await send(text('too late'))
  expect(late.status).toBe(200)
  expect(receiver.statusesOf(inTime.id).map((one) => one.status)).toEqual(['sent'])
  expect(receiver.statusesOf(late.id)).toMatchObject([
    { status: 'failed', errors: [{ code: 131047, title: 'Re-engagement message' }] },
  ])
  expect(receiver.statusesOf(late.id)[0]).not.toHaveProperty('recipient_user_id')
})
