import { expect, test } from 'vitest'
import { hello, newWorld, numberId, otherNumberId, phone, text } from './testing/world.ts'

test('duplicateWebhooks posts every webhook twice with the same bytes', async () => {
  const { control, receiver } = await newWorld()
  control.switches.set({ duplicateWebhooks: true })
  await control.phones.say(phone, { to: numberId, text: 'echo' })
  await control.idle()
  expect(receiver.requests.map((one) => one.raw.toString())).toHaveLength(2)
  expect(receiver.requests[0]?.raw).toEqual(receiver.requests[1]?.raw)
})

test('reorderWebhooks posts statuses in reverse order', async () => {
  const { control, send, receiver } = await newWorld()
  control.phones.change(phone, { switches: { reorderWebhooks: true } })
  const { id } = await send(hello)
  await control.clock.advance(200)
  expect(receiver.statusesOf(id).map((one) => one.status)).toEqual(['delivered', 'sent'])
})

test('delayWebhooksMs delays webhooks of that number only', async () => {
  const { control, receiver } = await newWorld()
  control.numbers.change(numberId, { switches: { delayWebhooksMs: 5_000 } })
  await control.phones.say(phone, { to: numberId, text: 'late' })
  await control.phones.say(phone, { to: otherNumberId, text: 'prompt' })
  await control.clock.advance(4_999)
  expect(receiver.messages()).toMatchObject([{ text: { body: 'prompt' } }])
  await control.clock.advance(1)
  expect(receiver.messages()).toHaveLength(2)
})

test('skipDelivered omits `delivered`, and then `read` has the price', async () => {
  const { control, send, receiver } = await newWorld()
  control.switches.set({ skipDelivered: true })
  const { id } = await send(hello)
  await control.clock.advance(60_000)
  expect(receiver.statusesOf(id).map((one) => [one.status, 'pricing' in one])).toEqual([
    ['sent', true],
    ['read', true],
  ])
})

test('statusShape and pricingModel change the status webhooks', async () => {
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
})

test('utility templates are billed inside the 24-hour window too, and service messages after the free ones of a month', async () => {
  const { control, send, receiver } = await newWorld()
  const pricing = ({ id }: { id: string }) => receiver.statusesOf(id).map((status) => status.pricing)
  const free = { billable: false, pricing_model: 'PMP', type: 'free_customer_service', category: 'service' }
  const billed = { billable: true, pricing_model: 'PMP', type: 'regular', category: 'service' }
  control.numbers.change(numberId, { switches: { freeServiceMessages: 2 } })
  await control.phones.say(phone, { to: numberId, text: 'hi' })
  expect(pricing(await send(hello))).toEqual([{ ...billed, category: 'utility' }])
  const first = await send(text('you are welcome'))
  await control.clock.advance(50)
  expect(pricing(first)).toEqual([free, free])
  // A message that fails is not sent, and uses no free message.
  await send({ ...text('not on WhatsApp'), to: '15550131026' })
  expect(pricing(await send(text('the last free one')))).toEqual([free])
  expect(pricing(await send(text('billed')))).toEqual([billed])
  await control.phones.say(phone, { to: otherNumberId, text: 'hi' })
  expect(pricing(await send(text('of another number'), otherNumberId))).toEqual([free])
  control.switches.set({ freeServiceMessages: 0 })
  expect(pricing(await send(text('all are billed'), otherNumberId))).toEqual([billed])
  await control.clock.advance(31 * 86_400_000)
  await control.phones.say(phone, { to: numberId, text: 'next month' })
  expect(pricing(await send(text('free again')))).toEqual([free])
})

test('the most specific switch wins, and null falls back to the next level', async () => {
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

test('customerWindow off allows free text outside the 24-hour window', async () => {
  const { control, send, receiver } = await newWorld()
  control.switches.set({ customerWindow: false })
  const { id } = await send(text('unasked'))
  expect(receiver.statusesOf(id)).toMatchObject([{ status: 'sent' }])
})
