import { expect, onTestFinished, test, vi } from 'vitest'
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

test('an error of onError neither keeps the response back nor ends the program', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => logged.mockRestore())
  const fail = () => {
    throw new Error('the handler fails')
  }
  for (const onError of [
    () => {
      throw new Error('the log is full')
    },
    () => Promise.reject(new Error('the log is full')),
  ]) {
    const { post } = newPost(fail, { onError })
    expect(await post('a')).toBe(500)
    const { receive } = newReceiver(secret, fail, { onError })
    expect((await receive({}, () => 'x')).status).toBe(400)
    const { post: postFirst } = newPost(fail, { onError, acknowledge: 'before' })
    expect(await postFirst('a')).toBe(204)
  }
  await expect.poll(() => logged.mock.calls.length).toBe(6)
  expect(logged.mock.calls.flat()).toEqual(Array(6).fill(new Error('the log is full')))
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
    seen: { has: () => false, add, delete: () => {} },
  })
  expect(await post('a')).toBe(500)
  expect(errors).toMatchObject([{ message: 'the store is down' }])
  expect(handled).toEqual([])
})

test('a store may be asynchronous', async () => {
  const known = new Set<string>()
  const add = async (id: string) => known.size < known.add(id).size
  const handled: string[] = []
  const seen = { has: async (id: string) => known.has(id), add, delete: async (id: string) => known.delete(id) }
  const { post } = newPost(({ id }) => handled.push(id), { seen })
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

test('an acknowledged event whose handler failed is reported and forgotten, so that it can be sent again', async () => {
  const handled: string[] = []
  const waiting: Promise<void>[] = []
  const { post, errors } = newPost(
    ({ id }) => {
      handled.push(id)
      if (handled.length === 1) throw new Error('once')
    },
    { acknowledge: 'before', waitUntil: (each) => void waiting.push(each) },
  )
  const send = async () => {
    const status = await post('a')
    await Promise.all(waiting)
    return status
  }
  expect([await send(), await send(), await send()]).toEqual([204, 204, 204])
  expect(handled).toEqual(['a', 'a'])
  expect(errors).toMatchObject([{ message: 'once' }])
})

test('if the ID of a failed event cannot be forgotten, that is reported too', async () => {
  const waiting: Promise<void>[] = []
  const { post, errors } = newPost(() => Promise.reject(new Error('late')), {
    acknowledge: 'before',
    seen: { has: () => false, add: () => true, delete: () => Promise.reject(new Error('the store is down')) },
    waitUntil: (handled) => void waiting.push(handled),
  })
  await post('a')
  await Promise.all(waiting)
  expect(errors).toMatchObject([{ message: 'late' }, { message: 'the store is down' }])
})

test('by default, a repeated event is dropped; with null, every delivery is handled', async () => {
  const countWith = async (options: ReceiveOptions) => {
    let calls = 0
    const { post } = newPost(() => void calls++, options)
    expect([await post('a'), await post('a'), await post('b')]).toEqual([204, 204, 204])
    return calls
  }
  expect([await countWith({}), await countWith({ seen: null })]).toEqual([2, 3])
})

test('a store without one of the methods throws when the receiver is created', () => {
  const seen = { has: () => false, add: () => true } as never
  expect(() => newReceiver(secret, () => {}, { seen })).toThrow('no method "delete"')
})

test('an unknown value of acknowledge throws', () => {
  expect(() => newReceiver(secret, () => {}, { acknowledge: 'never' as never })).toThrow('use "after" or "before"')
})

test('newSeenEvents keeps the last IDs', () => {
  const seen = newSeenEvents(2)
  expect(['a', 'b', 'a', 'c', 'b', 'a'].map((id) => seen.add(id))).toEqual([true, true, false, true, false, true])
  expect(['a', 'b', 'c'].map((id) => seen.has(id))).toEqual([true, false, true])
  seen.delete('a')
  expect([seen.has('a'), seen.add('a')]).toEqual([false, true])
})
