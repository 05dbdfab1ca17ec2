import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { isAlive } from './processes.ts'

test('isAlive is true until the process has ended, and never again afterwards', async () => {
  for (let round = 0; round < 20; round++) {
    const child = spawn('sleep', ['60'])
    const pid = child.pid as number
    expect(isAlive(pid)).toBe(true)
    child.kill('SIGKILL')
    const ended = once(child, 'exit')
    // Between the signal and the read of its exit code, an ending process goes through every state.
    let seenGone = false
    for (let over = false; !over; ) {
      const alive = isAlive(pid)
      if (seenGone) expect(alive).toBe(false)
      seenGone ||= !alive
      over = await Promise.race([
        ended.then(() => true),
        new Promise<boolean>((resolve) => setImmediate(resolve, false)),
      ])
    }
    expect(isAlive(pid)).toBe(false)
  }
})
