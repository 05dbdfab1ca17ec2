import { expect, test } from 'vitest'
import { FairShares } from './fair-shares.ts'

/** Takes as many places as the owner gets. */
function takeAll(shares: FairShares, owner: string): number {
  let count = 0
  while (shares.take(owner)) count++
  return count
}

test('one owner gets half of the places, and later ones still get some', () => {
  const shares = new FairShares(120)
  expect(takeAll(shares, 'first')).toBe(60)
  expect(takeAll(shares, 'second')).toBe(30)
  expect(takeAll(shares, 'third')).toBe(15)
  expect(shares.taken).toBe(105)
})

test('owners that take in turn get equal shares, and leave one more share free', () => {
  const shares = new FairShares(120)
  for (let turn = 0; turn < 120; turn++) for (const owner of ['a', 'b', 'c']) shares.take(owner)
  expect(['a', 'b', 'c'].map((owner) => shares.takenBy(owner))).toEqual([30, 30, 30])
})

test('released places can be taken again', () => {
  const shares = new FairShares(10)
  expect(takeAll(shares, 'a')).toBe(5)
  shares.release('a', 5)
  expect([shares.taken, shares.takenBy('a')]).toEqual([0, 0])
  expect(takeAll(shares, 'b')).toBe(5)
})

test('no place is left once as many owners as places have one', () => {
  const shares = new FairShares(2)
  expect([shares.take('a'), shares.take('b'), shares.take('c')]).toEqual([true, true, false])
})
