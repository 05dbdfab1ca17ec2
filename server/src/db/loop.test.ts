import { expect, test } from 'vitest'
import { newLogger } from '../telemetry/logger.ts'
import { newTelemetry } from '../telemetry/telemetry.ts'
import { startLoop } from './loop.ts'

const deps = { db: { subscribers: new Map(), telemetry: newTelemetry() }, log: newLogger('silent') }

test('a loop runs at its interval, and earlier only if a run returns that', async () => {
  let regular = 0
  let early = 0
  const loops = [
    startLoop(deps, 'send', 60_000, async () => void regular++),
    startLoop(deps, 'replays', 60_000, async () => ({ nextInMs: ++early < 5 ? 0 : 60_000 })),
  ]
  await expect.poll(() => early).toBe(5)
  expect(regular).toBe(1)
  await Promise.all(loops.map((loop) => loop.stop()))
})

test('a loop continues after a failed run', async () => {
  let runs = 0
  const loop = startLoop(deps, 'send', 1, async () => {
    if (++runs < 3) throw new Error('the database is down')
  })
  await expect.poll(() => runs).toBeGreaterThan(2)
  await loop.stop()
})

test('wake starts the next run immediately', async () => {
  let runs = 0
  const loop = startLoop(deps, 'send', 60_000, async () => void runs++)
  await expect.poll(() => runs).toBe(1)
  loop.wake()
  await expect.poll(() => runs).toBe(2)
  await loop.stop()
})
