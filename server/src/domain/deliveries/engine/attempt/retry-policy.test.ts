import { expect, test } from 'vitest'
import { EndpointQueue } from '../queue/endpoint-queue.ts'
import { EndpointQueues } from '../queue/endpoint-queues.ts'
import { decide, disabledReason, failureRunOf, isDisabledByFailures } from './retry-policy.ts'

const endedAt = new Date('2026-11-15T09:00:00.000Z')

test('each failed attempt has its delay, and the eighth fails the delivery', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => {
    const decision = decide('message.sent', 'timeout', number, endedAt)
    return decision.kind === 'retry' ? (decision.dueAt.getTime() - endedAt.getTime()) / 1000 : decision.kind
  })
  expect(waits).toEqual([0, 10, 60, 300, 1800, 7200, 21_600, 'failed'])
  expect(decide('message.sent', null, 8, endedAt)).toEqual({ kind: 'delivered' })
  expect(decide('webhook.test', 'timeout', 1, endedAt)).toEqual({ kind: 'failed' })
})

test.each([
  ['', 0, false, 0],
  ['fff', 3, false, 0],
  ['s', 0, true, 0],
  ['ffsf', 2, true, 1],
  ['sfffsff', 0, true, 2],
])('counts the run of failures in "%s" (f: failure, s: success)', (outcomes, leading, succeeded, trailing) => {
  expect(failureRunOf([...outcomes].map((each) => each === 's'))).toEqual({ leading, succeeded, trailing })
})

test('the disabled reason says when the failures began and what the last one was', () => {
  expect(disabledReason('dns', null, 20, endedAt)).toBe(
    '20 attempts in a row have failed since 2026-11-15 09:00 UTC. The last one could not resolve the host name (dns).',
  )
  expect(isDisabledByFailures(disabledReason('http', 500, 20, endedAt))).toBe(true)
  expect([null, 'moving servers', 'It has failed since noon'].map(isDisabledByFailures)).toEqual([false, false, false])
})

test('the concurrency of a queue grows with successes, halves with failures, and ends at one', () => {
  const queue = new EndpointQueue('one', 'workspace')
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
  const concurrencies = [0, 1, 2, 3, 4].map((failure) => {
    const items = failure === 0 ? sixteen : running
    for (const each of items.slice(1)) queue.done(each, null, 0)
    queue.done(items[0] as (typeof items)[number], false, 20)
    running = fill()
    return running.length
  })
  expect(concurrencies).toEqual([8, 4, 2, 1, 1])
  for (let count = 0; count < 50; count++) queue.push(item('retry'))
  queue.done(running[0] as (typeof running)[number], true, 20)
  expect(fill().filter((each) => each.trigger === 'retry')).toHaveLength(2)
})

let running: ReturnType<EndpointQueue['clear']> = []

test('a queue takes no more than it can attempt soon, and has capacity again only when half of it is done', () => {
  const queues = new EndpointQueues()
  const item = { trigger: 'first', webhookId: 'one', workspaceId: 'workspace' } as Parameters<EndpointQueue['push']>[0]
  const capacity = () => queues.capacityOf('one', 'workspace')
  queues.push(item)
  expect([...queues.full]).toEqual([])
  expect(capacity()).toBe(999)
  const { queue } = queues.next() as { queue: EndpointQueue }
  // Eight at a time, two seconds each: 20 in five seconds, but the minimum is 64.
  queues.done(queue, item, true, 2_000)
  for (let count = 0; count < 64; count++) queues.push(item)
  expect([...queues.full]).toEqual(['one'])
  expect(capacity()).toBe(0)
  for (let count = 0; count < 8; count++) queues.next()
  expect([...queues.full]).toEqual([])
  expect(capacity()).toBe(0)
  for (let count = 0; count < 30; count++) {
    queues.done(queue, item, true, 2_000)
    queues.next()
  }
  expect(capacity()).toBeGreaterThan(30)
})
