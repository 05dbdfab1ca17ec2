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
