import { afterEach, expect, test, vi } from 'vitest'
import { readRows } from './query.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

test('the rows of a list are read from all of its pages, until there are enough', async () => {
  vi.stubGlobal('fetch', async (path: string) => {
    const { searchParams } = new URL(path, 'http://localhost')
    const first = Number(searchParams.get('cursor') ?? 0)
    const data = Array.from({ length: Math.min(100, 250 - first) }, (_, index) => first + index)
    const more = first + 100 < 250
    return Response.json({ data, has_more: more, next_cursor: more ? String(first + 100) : null })
  })
  const rows = await readRows<number>('templates', 1000)
  expect(rows).toEqual(Array.from({ length: 250 }, (_, index) => index))
  expect(await readRows('templates', 150)).toHaveLength(200)
})
