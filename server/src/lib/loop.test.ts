import { expect, test } from 'vitest'
import { newLogger } from './logger.ts'
import { startLoop } from './loop.ts'
import { newProcessState } from './process.ts'

const deps = { db: { process: newProcessState() }, log: newLogger('silent') }

test('a loop takes its turns the time apart that it was given, and sooner only when a turn says so', async () => {
  let calm = 0
  let hasty = 0
  const loops = [
    startLoop(deps, 'clock', 60_000, async () => void calm++),
    startLoop(deps, 'partitions', 60_000, async () => ({ nextInMs: ++hasty < 5 ? 0 : 60_000 })),
  ]
  await expect.poll(() => hasty).toBe(5)
  expect(calm).toBe(1)
  await Promise.all(loops.map((loop) => loop.stop()))
})

test('a turn that fails is followed by another', async () => {
  let turns = 0
  const loop = startLoop(deps, 'clock', 1, async () => {
    if (++turns < 3) throw new Error('the database is away')
  })
  await expect.poll(() => turns).toBeGreaterThan(2)
  await loop.stop()
})

test('a loop that is woken takes its turn at once', async () => {
  let turns = 0
  const loop = startLoop(deps, 'clock', 60_000, async () => void turns++)
  await expect.poll(() => turns).toBe(1)
  loop.wake()
  await expect.poll(() => turns).toBe(2)
  await loop.stop()
})
