import { expect, onTestFinished, test, vi } from 'vitest'
import { newLine } from '../../server/testing/deliveries.ts'
import { untilReadable } from '../../server/testing/open-transaction.ts'
import { useTestServer } from '../../server/testing/test-server.ts'
import { fails, hangsUp, neverResponds, respond, serveScript } from '../testing/scripted.ts'
import { Parley } from './client.ts'
import { CursorExpiredError } from './error.ts'
import type { CursorStore, StreamOptions } from './events.ts'
import { newSeenEvents } from './seen.ts'

const server = useTestServer()

test('events are read page by page, by type, and followed as they come', async () => {
  const { workspace, write } = await newLine(server)
  const { events } = new Parley({ key: workspace.secret, baseUrl: server.url })
  await write(3)
  await untilReadable(server.db)
  const first = await events.read({ limit: 2 })
  expect(first).toMatchObject({ object: 'list', data: [{ type: 'message.received' }, {}], has_more: true })
  expect((await events.read({ after: first.next_cursor })).data).toHaveLength(1)
  expect((await events.read({ type: ['message.sent', 'message.read'] })).data).toEqual([])
  expect((await events.read({ type: 'message.received' })).data).toHaveLength(3)
  const stop = new AbortController()
  const followed: string[] = []
  const following = (async () => {
    for await (const { data } of events.follow({ after: first.next_cursor }, { signal: stop.signal })) {
      followed.push(...data.map(({ id }) => id))
      if (followed.length === 1) await write(2)
      if (followed.length === 3) stop.abort(new Error('enough'))
    }
  })()
  await expect(following).rejects.toThrow('enough')
  expect(new Set(followed).size).toBe(3)
})

function newStore(cursor: string | null = null): CursorStore & { saved: string[] } {
  const saved: string[] = []
  return { saved, load: async () => saved.at(-1) ?? cursor, save: async (next) => void saved.push(next) }
}

test('a stream continues after a restart with the cursor that it saved', async () => {
  const { workspace, write } = await newLine(server)
  const { events } = new Parley({ key: workspace.secret, baseUrl: server.url })
  const store = newStore()
  await write(3)
  /** Takes events until there are `count`, as a program that is stopped while it waits for the next one. */
  const take = async (count: number, options: StreamOptions = {}) => {
    const stop = new AbortController()
    const ids: string[] = []
    const save = async (cursor: string) => {
      await store.save(cursor)
      if (ids.length >= count) stop.abort()
    }
    for await (const { id } of events.stream({ ...options, store: { ...store, save }, signal: stop.signal }))
      ids.push(id)
    return ids
  }
  const first = await take(3, { limit: 2 })
  await write(2)
  const then = await take(2)
  expect([first.length, then.length, new Set([...first, ...then]).size]).toEqual([3, 2, 5])
  // What it saved takes precedence over `after`.
  await write(1)
  expect(await take(1, { after: 'latest' })).toHaveLength(1)
})

const pageOf = (ids: string[], next_cursor: string) =>
  respond(200, { object: 'list', data: ids.map((id) => ({ id, type: 'x' })), has_more: false, next_cursor })
const eventsAt = (baseUrl: string) => new Parley({ key: 'prl_live_x', baseUrl }).events
const cursorsOf = (requests: { url: string }[]) =>
  requests.map(({ url }) => new URL(url, 'http://x').searchParams.get('after'))

test('a stream saves a cursor when the events of its page were handled, also that of an empty page', async () => {
  const { baseUrl, requests } = await serveScript(
    pageOf(['a', 'b'], 'c1'),
    pageOf([], 'c2'),
    pageOf(['c'], 'c3'),
    neverResponds,
  )
  const store = newStore('c0')
  const stream = eventsAt(baseUrl).stream({ store })
  const states: unknown[] = []
  for await (const { id } of stream) {
    states.push([id, ...store.saved])
    if (id === 'c') break
  }
  expect(states).toEqual([['a'], ['b'], ['c', 'c1', 'c2']])
  // The program stopped within a page, so the page is read again.
  expect(store.saved).toEqual(['c1', 'c2'])
  expect(cursorsOf(requests)).toEqual(['c0', 'c1', 'c2'])
  expect(requests[0]?.url).toContain('wait=25')
})

test('a stream that begins now has a cursor immediately, so that a failed first wait skips nothing', async () => {
  const { baseUrl, requests } = await serveScript(pageOf([], 'c0'), hangsUp, pageOf(['a'], 'c1'))
  const store = newStore()
  const { value } = await eventsAt(baseUrl).stream({ store, after: 'latest' }).next()
  expect(value).toMatchObject({ id: 'a' })
  expect(cursorsOf(requests)).toEqual(['latest', 'c0', 'c0'])
  expect(requests.map(({ url }) => new URL(url, 'http://x').searchParams.get('wait'))).toEqual(['0', '25', '25'])
  expect(store.saved).toEqual(['c0'])
})

test('a stream with seen does not repeat events of a page in which the program ended', async () => {
  const { baseUrl } = await serveScript(pageOf(['a', 'b'], 'c1'), pageOf(['a', 'b'], 'c1'))
  const seen = newSeenEvents()
  const taken: string[] = []
  for await (const { id } of eventsAt(baseUrl).stream({ seen })) {
    taken.push(id)
    if (taken.length === 2) break
  }
  seen.delete('b')
  for await (const { id } of eventsAt(baseUrl).stream({ seen })) {
    taken.push(id)
    break
  }
  expect(taken).toEqual(['a', 'b', 'b'])
})

test('a stream waits and tries again while the service is down or the rate limit is exceeded', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const retried: [code: string, status: number, isLongEnough: boolean][] = []
  const { baseUrl, requests } = await serveScript(
    hangsUp,
    fails(500, 'internal_error'),
    (response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
    fails(429, 'rate_limited', { 'retry-after': '1' }),
    pageOf(['a'], 'c1'),
  )
  const stream = eventsAt(baseUrl).stream({
    after: 'c0',
    onRetry({ code, status }, waitMs) {
      retried.push([code, status, waitMs >= (status === 429 ? 1000 : 250)])
      setImmediate(() => vi.advanceTimersByTime(waitMs))
    },
  })
  expect((await stream.next()).value).toMatchObject({ id: 'a' })
  expect(retried).toEqual([
    ['connection_failed', 0, true],
    ['internal_error', 500, true],
    ['unexpected_response', 502, true],
    ['rate_limited', 429, true],
  ])
  expect(cursorsOf(requests)).toEqual(['c0', 'c0', 'c0', 'c0', 'c0'])
})

test('a stream whose cursor has expired throws an error with the oldest cursor', async () => {
  const { baseUrl } = await serveScript(fails(410, 'cursor_expired', {}, { details: { oldest_cursor: 'c9' } }))
  const error = await eventsAt(baseUrl)
    .stream({ store: newStore('c0') })
    .next()
    .catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(CursorExpiredError)
  expect(error).toMatchObject({ code: 'cursor_expired', status: 410, oldestCursor: 'c9', name: 'CursorExpiredError' })
})

test('a stream ends if Retry-After is longer than ten minutes, with an error that has its value', async () => {
  const { baseUrl, requests } = await serveScript(fails(503, 'service_unavailable', { 'retry-after': '3600' }))
  const error = { code: 'service_unavailable', status: 503, retryAfter: 3600 }
  // Waits end immediately, so that a stream that waits would not keep the test.
  const stop = new AbortController()
  const options = { signal: stop.signal, onRetry: () => stop.abort() }
  await expect(eventsAt(baseUrl).stream(options).next()).rejects.toMatchObject(error)
  expect(requests.length).toBe(1)
})

test('a stream ends if the key is not valid, and if the store fails', async () => {
  const { baseUrl } = await serveScript(fails(401, 'invalid_key'))
  await expect(eventsAt(baseUrl).stream().next()).rejects.toMatchObject({ code: 'invalid_key' })
  const store = { load: () => Promise.reject(new Error('no disk')), save: () => {} }
  await expect(eventsAt(baseUrl).stream({ store }).next()).rejects.toThrow('no disk')
})

test('an aborted stream ends its loop: while it waits for events, between attempts and within a page', async () => {
  for (const act of [
    neverResponds,
    fails(503, 'service_unavailable', { 'retry-after': '500' }),
    pageOf(['a', 'b'], 'c1'),
  ]) {
    const stop = new AbortController()
    const { baseUrl, requests } = await serveScript((response, request) => {
      act(response, request)
      if (act === neverResponds) stop.abort()
    })
    const taken: string[] = []
    const options = { signal: stop.signal, onRetry: () => stop.abort(), store: newStore() }
    for await (const { id } of eventsAt(baseUrl).stream(options)) {
      taken.push(id)
      stop.abort()
    }
    expect([taken.length <= 1, requests.length, options.store.saved]).toEqual([true, 1, []])
  }
})
