import { expect, test } from 'vitest'
import { batched } from './batch.ts'

test('owners take turns when not all waiting items fit into a batch', async () => {
  const batches: string[][] = []
  const add = batched(
    async (items: string[]) => {
      batches.push(items)
      await new Promise((resolve) => setImmediate(resolve))
      return items
    },
    { maxItems: 3, ownerOf: (item) => item[0] as string },
  )
  const items = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1', 'b2']
  expect(await Promise.all(items.map(add))).toEqual(items)
  expect(batches).toEqual([
    ['a1', 'b1', 'c1'],
    ['a2', 'b2', 'a3'],
    ['a4', 'a5'],
  ])
})

test('without owners, items are taken in the order in which they came', async () => {
  const batches: number[][] = []
  const add = batched(
    async (items: number[]) => {
      batches.push(items)
      return items
    },
    { maxItems: 2 },
  )
  await Promise.all([1, 2, 3].map(add))
  expect(batches).toEqual([[1, 2], [3]])
})

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('with a gap, the first item starts at once, and items that follow within the gap share a batch', async () => {
  const batches: number[][] = []
  const add = batched(
    async (items: number[]) => {
      batches.push(items)
      return items
    },
    { gapMs: 500 },
  )
  const first = add(1)
  await turn()
  expect(batches).toEqual([[1]])
  await first
  const second = add(2)
  await turn()
  await turn()
  await Promise.all([second, add(3)])
  expect(batches).toEqual([[1], [2, 3]])
})

test('a full batch does not wait for the gap', async () => {
  const batches: string[][] = []
  const add = batched(
    async (items: string[]) => {
      batches.push(items)
      return items
    },
    { gapMs: 3_600_000, maxItems: 4, sizeOf: (item) => item.length },
  )
  await add('a')
  const waiting = [add('bb')]
  await turn()
  waiting.push(add('cc'))
  await Promise.all(waiting)
  expect(batches).toEqual([['a'], ['bb', 'cc']])
})
