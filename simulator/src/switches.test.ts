import { expect, test } from 'vitest'
import { hello, newWorld, numberId, otherNumberId, phone, text } from './testing/world.ts'

test('duplicated webhooks arrive twice, byte for byte', async () => {
  const { control, receiver } = await newWorld()
  control.switches.set({ duplicateWebhooks: true })
  await control.phones.say(phone, { to: numberId, text: 'echo' })
  await control.idle()
  expect(receiver.requests.map((one) => one.raw.toString())).toHaveLength(2)
  expect(receiver.requests[0]?.raw).toEqual(receiver.requests[1]?.raw)
})

test('reordered statuses arrive last first', async () => {
  const { control, send, receiver } = await newWorld()
  control.phones.change(phone, { switches: { reorderWebhooks: true } })
  const { id } = await send(hello)
  await control.clock.advance(200)
  expect(receiver.statusesOf(id).map((one) => one.status)).toEqual(['delivered', 'sent'])
})

test('delayed webhooks wait', async () => {
  const { control, receiver } = await newWorld()
  control.numbers.change(numberId, { switches: { delayWebhooksMs: 5_000 } })
  await control.phones.say(phone, { to: numberId, text: 'late' })
  await control.phones.say(phone, { to: otherNumberId, text: 'prompt' })
  await control.clock.advance(4_999)
  expect(receiver.messages()).toMatchObject([{ text: { body: 'prompt' } }])
  await control.clock.advance(1)
  expect(receiver.messages()).toHaveLength(2)
})

test('`delivered` can be left out, and then `read` carries the price', async () => {
  const { control, send, receiver } = await newWorld()
  control.switches.set({ skipDelivered: true })
  const { id } = await send(hello)
  await control.clock.advance(60_000)
  expect(receiver.statusesOf(id).map((one) => [one.status, 'pricing' in one])).toEqual([
    ['sent', true],
    ['read', true],
  ])
})

test('statuses come in the shape of v23 or of v24, priced per message or per conversation', async () => {
  const { control, send, receiver } = await newWorld()
  const v24 = await send(hello)
  control.switches.set({ statusShape: 'v23', pricingModel: 'CBP' })
  const v23 = await send(hello)
  expect(receiver.statusesOf(v24.id)[0]).toMatchObject({
    pricing: { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' },
  })
  expect(receiver.statusesOf(v24.id)[0]).not.toHaveProperty('conversation')
  expect(receiver.statusesOf(v23.id)[0]).toMatchObject({
    conversation: { id: expect.any(String), expiration_timestamp: expect.any(String), origin: { type: 'utility' } },
    pricing: { billable: true, pricing_model: 'CBP', category: 'utility' },
  })
  await control.phones.say(phone, { to: numberId, text: 'hi' })
  control.switches.set({ pricingModel: null })
  const free = await send(text('you are welcome'))
  const freeTemplate = await send(hello)
  expect(receiver.statusesOf(freeTemplate.id)[0]).toMatchObject({ pricing: { billable: false, category: 'utility' } })
  expect(receiver.statusesOf(free.id)[0]).toMatchObject({
    pricing: { billable: false, type: 'free_customer_service', category: 'service' },
  })
})

test('the nearest setting wins, and null goes back to the one above', async () => {
  const { control, send, receiver } = await newWorld()
  control.switches.set({ sentAfterMs: 10_000 })
  control.numbers.change(numberId, { switches: { sentAfterMs: 20_000 } })
  control.phones.change(phone, { switches: { sentAfterMs: 0 } })
  const prompt = await send(hello)
  expect(receiver.statusesOf(prompt.id)).toHaveLength(1)
  control.phones.change(phone, { switches: { sentAfterMs: null } })
  const slow = await send(hello)
  await control.clock.advance(19_999)
  expect(receiver.statusesOf(slow.id)).toHaveLength(0)
  await control.clock.advance(1)
  expect(receiver.statusesOf(slow.id)).toHaveLength(1)
})

test('the 24-hour window can be lifted', async () => {
  const { control, send, receiver } = await newWorld()
  control.switches.set({ customerWindow: false })
  const { id } = await send(text('unasked'))
  expect(receiver.statusesOf(id)).toMatchObject([{ status: 'sent' }])
})
