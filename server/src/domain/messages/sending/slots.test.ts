import { expect, test } from 'vitest'
import { FairShares } from '../../../sharing/fair-shares.ts'
import { takeSlots } from './slots.ts'

const sender = (workspaceId: string, number: number, throughput: string | null = 'HIGH') => ({
  id: `${workspaceId}${number}`,
  workspaceId,
  throughput,
})

/** Runs until nothing more is taken: a run takes at most one burst per number. */
function takeAll(slots: FairShares, due: ReturnType<typeof sender>[]): Record<string, number> {
  const taken: Record<string, number> = {}
  for (let quotas = takeSlots(slots, due); quotas.length > 0; quotas = takeSlots(slots, due)) {
    for (const { senderId, maxCount } of quotas) taken[senderId] = (taken[senderId] ?? 0) + maxCount
  }
  return taken
}

test('one number gets a quarter of the slots, and other numbers and workspaces still get some', () => {
  const slots = new FairShares(1024)
  expect(takeAll(slots, [sender('a', 1)])).toEqual({ a1: 256 })
  expect(takeAll(slots, [sender('a', 2)])).toEqual({ a2: 128 })
  expect(takeAll(slots, [sender('b', 1)])).toEqual({ b1: 160 })
  expect(takeAll(slots, [sender('a', 3)])).toEqual({ a3: 24 })
})

test('a number has at most the calls that its throughput needs, and takes one burst at a time', () => {
  const slots = new FairShares(1024)
  const [quota] = takeSlots(slots, [sender('a', 1, null)])
  expect(quota).toMatchObject({ senderId: 'a1', maxCount: 8, burst: 8 })
  expect(takeAll(slots, [sender('a', 1, null)])).toEqual({ a1: 32 })
})

test('with fewer slots than senders, every workspace gets slots, however many senders another one has', () => {
  const slots = new FairShares(20)
  const many = Array.from({ length: 100 }, (_, index) => sender('a', index))
  const taken = takeSlots(slots, [...many, sender('b', 1), sender('c', 1)])
  const of = (workspaceId: string) =>
    taken.reduce((sum, quota) => sum + (quota.workspaceId === workspaceId ? quota.maxCount : 0), 0)
  expect(taken.filter(({ workspaceId }) => workspaceId === 'a').every(({ maxCount }) => maxCount === 1)).toBe(true)
  for (const workspaceId of ['b', 'c']) expect(of(workspaceId)).toBeGreaterThanOrEqual(2)
})

test('released slots can be taken again', () => {
  const slots = new FairShares(8)
  expect(takeAll(slots, [sender('a', 1)])).toEqual({ a1: 2 })
  slots.releaseFor('a1', 'a', 2)
  expect(takeAll(slots, [sender('a', 1)])).toEqual({ a1: 2 })
})
