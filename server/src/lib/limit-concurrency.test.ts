import { expect, test } from 'vitest'
import { limitConcurrency } from './limit-concurrency.ts'

test('runs up to the limit at a time, the others in order, and rejects when the queue is full', async () => {
  const limited = limitConcurrency(2, 3, () => {
    throw new Error('too many')
  })
  const begun: number[] = []
  const ends: (() => void)[] = []
  const run = (id: number) =>
    limited(() => {
      begun.push(id)
      return new Promise<number>((resolve) => ends.push(() => resolve(id)))
    })
  const runs = [1, 2, 3, 4, 5].map(run)
  await expect(run(6)).rejects.toThrow('too many')
  expect(begun).toEqual([1, 2])
  ends[0]?.()
  expect(await runs[0]).toBe(1)
  expect(begun).toEqual([1, 2, 3])
  const seventh = run(7)
  for (let at = 1; at < 6; at++) {
    ends[at]?.()
    await new Promise(setImmediate)
  }
  expect(await Promise.all([...runs.slice(1), seventh])).toEqual([2, 3, 4, 5, 7])
})

test('a function that fails frees its slot', async () => {
  const limited = limitConcurrency(1, 1, () => {
    throw new Error('too many')
  })
  await expect(limited(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(await limited(async () => 'next')).toBe('next')
})
