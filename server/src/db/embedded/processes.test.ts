import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { isAlive } from './processes.ts'

test('a process is alive until it has ended, and at no look afterwards', async () => {
  for (let round = 0; round < 20; round++) {
    const child = spawn('sleep', ['60'])
    const pid = child.pid as number
    expect(isAlive(pid)).toBe(true)
    child.kill('SIGKILL')
    const ended = once(child, 'exit')
    // From the signal to the moment its exit code is taken, a process that ends goes through every state there is.
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
