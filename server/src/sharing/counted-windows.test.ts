import { expect, test } from 'vitest'
import { CountedWindows } from './counted-windows.ts'

const at = (seconds: number) => new Date(seconds * 1000)

test('counts up to the limit in a window that begins with the first count', () => {
  const windows = new CountedWindows({ max: 2, windowMs: 60_000, maxKeys: 10 })
  expect(windows.count('a', at(0))).toEqual({ count: 1, endsAt: at(60), isFull: false })
  expect(windows.count('a', at(59)).isFull).toBe(false)
  expect(windows.count('a', at(59))).toEqual({ count: 2, endsAt: at(60), isFull: true })
  expect(windows.count('b', at(59)).isFull).toBe(false)
  expect(windows.count('a', at(60))).toEqual({ count: 1, endsAt: at(120), isFull: false })
})

test('keeps a limited number of keys and forgets the oldest window', () => {
  const windows = new CountedWindows({ max: 1, windowMs: 60_000, maxKeys: 100 })
  for (let key = 0; key < 1000; key++) windows.count(`key ${key}`, at(0))
  expect(windows.size).toBe(100)
  expect(windows.count('key 999', at(1)).isFull).toBe(true)
  expect(windows.count('key 0', at(1)).isFull).toBe(false)
})
