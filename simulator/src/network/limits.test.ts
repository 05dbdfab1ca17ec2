import { expect, test } from 'vitest'
import { hello, newWorld, numberId, otherNumberId, phone } from '../testing/world.ts'

test('a burst of 45 messages can go to one phone, then one every six seconds', async () => {
  const { send, control } = await newWorld()
  control.switches.set({ throughputLimit: false })
  for (let count = 0; count < 45; count++) expect((await send(hello)).status).toBe(200)
  const limited = await send(hello)
  expect(limited).toMatchObject({ status: 400, code: 131056 })
  expect((await send({ ...hello, to: '+16505550124' })).status).toBe(200)
  expect((await send(hello, otherNumberId)).status).toBe(200)
  await control.clock.advance(5_999)
  expect((await send(hello)).code).toBe(131056)
  await control.clock.advance(1)
  expect((await send(hello)).status).toBe(200)
  expect((await send(hello)).code).toBe(131056)
  control.switches.set({ pairLimit: false })
  expect((await send(hello)).status).toBe(200)
})

test('a number can send throughputMps messages per second', async () => {
  const { send, control } = await newWorld()
  control.numbers.change(numberId, { throughputMps: 3 })
  const codes = async () => {
    const responses = await Promise.all([0, 1, 2, 3, 4].map((tail) => send({ ...hello, to: `1650555020${tail}` })))
    return responses.map((response) => response.code).sort()
  }
  expect(await codes()).toEqual([0, 0, 0, 130429, 130429])
  await control.clock.advance(1000)
  expect(await codes()).toEqual([0, 0, 0, 130429, 130429])
  control.numbers.change(numberId, { switches: { throughputLimit: false } })
  expect(await codes()).toEqual([0, 0, 0, 0, 0])
})

test('inbound messages count toward the throughput limit', async () => {
  const { send, control } = await newWorld()
  control.numbers.change(numberId, { throughputMps: 1 })
  await control.phones.say(phone, { to: numberId, text: 'hi' })
  expect((await send(hello)).code).toBe(130429)
})
