import { expect, test } from 'vitest'
import { eventBody, secret, sign } from '../testing/signing.ts'
import { type EventHandler, newReceiver, type ReceiveOptions } from './receive.ts'
import { newSeenEvents } from './seen.ts'

function newPost(handler: EventHandler, options: ReceiveOptions) {
  const errors: unknown[] = []
  const { receive } = newReceiver(secret, handler, { onError: (error) => void errors.push(error), ...options })
  const post = async (id: string) => {
    const body = eventBody({ id })
    return (await receive({ 'service-signature': sign(body) }, () => body)).status
  }
  return { post, errors }
}

test('an event whose handler failed is handled again when it is retried', async () => {
  const handled: string[] = []
  const { post, errors } = newPost(
    ({ id }) => {
      handled.push(id)
      if (handled.length === 1) throw new Error('once')
    },
    { seen: newSeenEvents() },
  )
  expect([await post('a'), await post('a'), await post('a')]).toEqual([500, 204, 204])
  expect(handled).toEqual(['a', 'a'])
  expect(errors).toHaveLength(1)
})

test('an event that is repeated while it is being handled gets the response of the first one', async () => {
  const { promise, reject } = Promise.withResolvers<void>()
  let calls = 0
  const { post } = newPost(
    ({ id }) => {
      if (id !== 'a') return
      calls++
      return promise
    },
    { seen: newSeenEvents() },
  )
  const both = Promise.all([post('a'), post('a')])
  // Once later ones are verified and handled, the second one is verified too.
  for (const later of ['b', 'c', 'd']) await post(later)
  reject(new Error('too slow'))
  expect(await both).toEqual([500, 500])
  expect(calls).toBe(1)
})

test('if the IDs cannot be stored, the event is not acknowledged and not handled', async () => {
  const handled: unknown[] = []
  const add = () => Promise.reject(new Error('the store is down'))
  const { post, errors } = newPost((event) => handled.push(event), {
    acknowledge: 'before',
    seen: { has: () => false, add },
  })
  expect(await post('a')).toBe(500)
  expect(errors).toMatchObject([{ message: 'the store is down' }])
  expect(handled).toEqual([])
})

test('a store may be asynchronous', async () => {
  const known = new Set<string>()
  const add = async (id: string) => known.size < known.add(id).size
  const handled: string[] = []
  const { post } = newPost(({ id }) => handled.push(id), { seen: { has: async (id) => known.has(id), add } })
  expect([await post('a'), await post('a'), await post('b')]).toEqual([204, 204, 204])
  expect(handled).toEqual(['a', 'b'])
})

test('an event is remembered only after its handler succeeded, so that a crash in between repeats it', async () => {
  const seen = newSeenEvents()
  const known: boolean[] = []
  const { post } = newPost(async ({ id }) => void known.push(await seen.has(id)), { seen })
  expect([await post('a'), await post('a')]).toEqual([204, 204])
  expect([known, await seen.has('a')]).toEqual([[false], true])
})

test('waitUntil gets a promise that ends with the handler and never fails', async () => {
  const waiting: Promise<void>[] = []
  const { post, errors } = newPost(() => Promise.reject(new Error('late')), {
    acknowledge: 'before',
    waitUntil: (handled) => void waiting.push(handled),
  })
  expect(await post('a')).toBe(204)
  expect(errors).toEqual([])
  expect(await Promise.all(waiting)).toEqual([undefined])
  expect(errors).toMatchObject([{ message: 'late' }])
})

test('an unknown value of acknowledge throws', () => {
  expect(() => newReceiver(secret, () => {}, { acknowledge: 'never' as never })).toThrow('use "after" or "before"')
})

test('newSeenEvents keeps the last IDs', () => {
  const seen = newSeenEvents(2)
  expect(['a', 'b', 'a', 'c', 'b', 'a'].map((id) => seen.add(id))).toEqual([true, true, false, true, false, true])
  expect(['a', 'b', 'c'].map((id) => seen.has(id))).toEqual([true, false, true])
})
