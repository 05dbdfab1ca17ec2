import { expect, test } from 'vitest'
import type { LeasedDelivery } from '../../../lib/first-attempts.ts'
import { EndpointQueues } from './endpoint-queues.ts'
import { shareClaim } from './visits.ts'

const item = (workspaceId: string, webhookId: string): LeasedDelivery =>
  ({ workspaceId, webhookId, trigger: 'first' }) as LeasedDelivery

/** Starts as many attempts as allowed. Returns how many each workspace has in progress. */
function start(queues: EndpointQueues, running = new Map<string, number>()) {
  for (let next = queues.next(); next; next = queues.next()) {
    running.set(next.item.workspaceId, (running.get(next.item.workspaceId) ?? 0) + 1)
  }
  return running
}

function fill(queues: EndpointQueues, workspaceId: string, endpoints: number) {
  for (let endpoint = 0; endpoint < endpoints; endpoint++) {
    for (let count = 0; count < 8; count++) queues.push(item(workspaceId, `${workspaceId} ${endpoint}`))
  }
}

test('one workspace gets half of the 512 slots, however many endpoints it has', () => {
  const queues = new EndpointQueues()
  fill(queues, 'hog', 600)
  expect(start(queues)).toEqual(new Map([['hog', 256]]))
  fill(queues, 'other', 1)
  expect(start(queues)).toEqual(new Map([['other', 8]]))
})

test('workspaces share the slots, and some stay free for another', () => {
  const queues = new EndpointQueues()
  for (const name of ['one', 'two', 'three']) fill(queues, name, 100)
  expect([...start(queues).values()]).toEqual([128, 128, 128])
  fill(queues, 'late', 1)
  expect(start(queues)).toEqual(new Map([['late', 8]]))
})

test('workspaces take turns, and within a workspace its endpoints', () => {
  const queues = new EndpointQueues()
  for (const webhookId of ['a1', 'a1', 'a2', 'a2']) queues.push(item('a', webhookId))
  for (const webhookId of ['b1', 'b1']) queues.push(item('b', webhookId))
  const order = []
  for (let next = queues.next(); next; next = queues.next()) order.push(next.item.webhookId)
  expect(order).toEqual(['a1', 'b1', 'a2', 'b1', 'a1', 'a2'])
})

test('a slot that becomes free goes to a workspace that waits for one', () => {
  const queues = new EndpointQueues(4)
  fill(queues, 'hog', 1)
  const first = queues.next()
  if (!first) throw new Error('nothing started')
  expect(start(queues)).toEqual(new Map([['hog', 1]]))
  queues.done(first.queue, first.item, true, 1)
  expect(start(queues)).toEqual(new Map([['hog', 1]]))
})

test('one workspace holds half of the 50,000 deliveries in memory, and another is not full', () => {
  const queues = new EndpointQueues()
  for (let endpoint = 0; endpoint < 30; endpoint++) {
    for (let count = 0; count < 900; count++) {
      if (![...queues.full].includes(`hog ${endpoint}`)) queues.push(item('hog', `hog ${endpoint}`))
    }
  }
  expect(queues.queued).toBeGreaterThanOrEqual(25_000)
  expect(queues.queued).toBeLessThan(25_030)
  queues.push(item('other', 'other'))
  expect([...queues.full]).not.toContain('other')
  expect(queues.capacityOf('other', 'other')).toBeGreaterThan(100)
  expect(queues.capacityOf('new', 'new')).toBeGreaterThan(100)
  expect(queues.capacityOf('hog 0', 'hog')).toBe(0)
  // Nothing of it is in memory yet, but its workspace has its share.
  expect(queues.capacityOf('hog new', 'hog')).toBe(0)
})

test('every workspace has the same share of a claim, and within it every endpoint', () => {
  const visit = (workspaceId: string, webhookId: string) => ({ workspaceId, webhookId, step: 0 })
  const hog = Array.from({ length: 50 }, (_, index) => visit('hog', `hog ${index}`))
  const shares = shareClaim([...hog, visit('other', 'other')], 500, (id) => (id === 'hog 0' ? 2 : 1_000))
  expect(shares.map(({ take }) => take)).toEqual([2, ...Array(49).fill(5), 250])
})
