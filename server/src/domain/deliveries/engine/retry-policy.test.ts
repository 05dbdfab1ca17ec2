import { expect, test } from 'vitest'
import { EndpointQueue, EndpointQueues } from './endpoint-queue.ts'
import { decide, reasonFor, runOf } from './retry-policy.ts'

const endedAt = new Date('2026-11-15T09:00:00.000Z')

test('the schedule, attempt by attempt', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => {
    const decision = decide('timeout', number, endedAt)
    return decision.kind === 'retry' ? (decision.dueAt.getTime() - endedAt.getTime()) / 1000 : decision.kind
  })
  expect(waits).toEqual([0, 10, 60, 300, 1800, 7200, 21_600, 'failed'])
  expect(decide(null, 8, endedAt)).toEqual({ kind: 'delivered' })
})

test.each([
  ['', 0, false, 0, 0],
  ['fff', 3, false, 0, 0],
  ['s', 0, true, 0, 0],
  ['ffsf', 2, true, 1, 1],
  ['sfffsff', 0, true, 3, 2],
])('the run of "%s"', (outcomes, leading, succeeded, longest, trailing) => {
  expect(runOf([...outcomes].map((each) => each === 's'))).toEqual({ leading, succeeded, longest, trailing })
})

test('a reason says what the last failure was and when the run began', () => {
  expect(reasonFor('dns', null, 20, endedAt)).toBe(
    '20 attempts in a row have failed since 2026-11-15T09:00:00.000Z; the last one found no address for its name (dns).',
  )
})

test('a queue widens while it succeeds, halves with failures, and ends as a single probe', () => {
  const queue = new EndpointQueue('one')
  const item = (trigger: 'first' | 'retry') => ({ trigger }) as Parameters<EndpointQueue['push']>[0]
  const fill = () => {
    const running = []
    for (let next = queue.next(); next; next = queue.next()) running.push(next)
    return running
  }
  for (let count = 0; count < 500; count++) queue.push(item('first'))
  const eight = fill()
  expect(eight).toHaveLength(8)
  for (const each of eight) queue.done(each, true, 20)
  const sixteen = fill()
  expect(sixteen).toHaveLength(16)
  const widths = [0, 1, 2, 3, 4].map((failure) => {
    const own = failure === 0 ? sixteen : running
    for (const each of own.slice(1)) queue.done(each, null, 0)
    queue.done(own[0] as (typeof own)[number], false, 20)
    running = fill()
    return running.length
  })
  expect(widths).toEqual([8, 4, 2, 1, 1])
  for (let count = 0; count < 50; count++) queue.push(item('retry'))
  queue.done(running[0] as (typeof running)[number], true, 20)
  expect(fill().filter((each) => each.trigger === 'retry')).toHaveLength(2)
})

let running: ReturnType<EndpointQueue['clear']> = []

test('no more waits in a queue than it can soon do, and more is claimed only when half of that is done', () => {
  const queues = new EndpointQueues()
  const item = { trigger: 'first', webhookId: 'one' } as Parameters<EndpointQueue['push']>[0]
  const room = () => queues.rooms()[0]?.room ?? 0
  queues.push(item)
  expect([...queues.full]).toEqual([])
  expect(room()).toBe(19_999)
  const { queue } = queues.next() as { queue: EndpointQueue }
  // Eight at a time, each of two seconds: twenty in five seconds, but 64 are always taken.
  queues.done(queue, item, true, 2_000)
  for (let count = 0; count < 64; count++) queues.push(item)
  expect([...queues.full]).toEqual(['one'])
  expect(room()).toBe(0)
  for (let count = 0; count < 8; count++) queues.next()
  expect([...queues.full]).toEqual([])
  expect(room()).toBe(0)
  for (let count = 0; count < 30; count++) {
    queues.done(queue, item, true, 2_000)
    queues.next()
  }
  expect(room()).toBeGreaterThan(30)
})
