import { expect, test } from 'vitest'
import { shareClaim } from '../claim/claims.ts'
import type { LeasedDelivery, Pace } from '../first-attempts.ts'
import { EndpointQueues } from './endpoint-queues.ts'

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

/** Lets `free` deliveries begin. */
const newPace = (replayId: string, free = 1_000): Pace & { free: number } => ({
  replayId,
  free,
  isOwned: true,
  mayTake() {
    return this.free > 0
  },
  take() {
    this.free--
  },
  begin() {},
  end() {},
})

const replayed = (pace: Pace): LeasedDelivery => ({
  ...item('a', 'a1'),
  trigger: 'replay',
  replayId: pace.replayId,
  pace,
})

test('deliveries of a replay use half of the concurrency, wait behind all others, and do not fill the queue', () => {
  const queues = new EndpointQueues()
  const pace = newPace('replay')
  for (let count = 0; count < 2_000; count++) queues.push(replayed(pace))
  expect([...queues.full]).toEqual([])
  expect(queues.capacityOf('a1', 'a')).toBe(1_000)
  const begun = []
  for (let next = queues.next(); next; next = queues.next()) begun.push(next)
  expect(begun.map((each) => each.item.trigger)).toEqual(Array(4).fill('replay'))
  for (let count = 0; count < 6; count++) queues.push(item('a', 'a1'))
  const live = []
  for (let next = queues.next(); next; next = queues.next()) live.push(next.item.trigger)
  expect(live).toEqual(Array(4).fill('first'))
  const [first] = begun
  if (!first) throw new Error('nothing has begun')
  queues.done(first.queue, first.item, null, 0)
  expect(queues.next()?.item.trigger).toBe('first')
})

test('a replay that waits for its pace does not keep another one waiting, and continues when it is scheduled', () => {
  const queues = new EndpointQueues()
  const [slow, fast] = [newPace('slow', 1), newPace('fast')]
  for (let count = 0; count < 2; count++) queues.push(replayed(slow))
  for (let count = 0; count < 2; count++) queues.push(replayed(fast))
  const order = []
  for (let next = queues.next(); next; next = queues.next()) order.push(next.item.replayId)
  expect(order).toEqual(['slow', 'fast', 'fast'])
  slow.free = 1
  expect(queues.next()).toBeUndefined()
  queues.scheduleReplays()
  expect(queues.next()?.item.replayId).toBe('slow')
})

test('a replay adds no more than its endpoint can attempt soon, and removing it empties its queue only', () => {
  const queues = new EndpointQueues()
  const pace = newPace('replay', 0)
  expect(queues.capacityFor('a1', 'a', 'replay', 125)).toBe(125)
  queues.push(replayed(pace))
  expect(queues.capacityFor('a1', 'a', 'replay', 125)).toBe(63)
  expect(queues.capacityFor('a1', 'a', 'replay', 1)).toBe(0)
  queues.push(item('a', 'a1'))
  expect(queues.removeReplay('a1', 'replay')).toHaveLength(1)
  expect(queues.queued).toBe(1)
  expect(queues.next()?.item.trigger).toBe('first')
})
