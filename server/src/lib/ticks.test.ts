import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

/** Nanoseconds a tick, at best, before and after all garbage was collected in a pause; in a process of its own. */
const measure = `
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const ticks = (count) => new Promise((resolve) => {
  const next = () => (count-- > 0 ? process.nextTick(next) : resolve())
  next()
})
async function best() {
  let least = Infinity
  for (let round = 0; round < 10; round++) {
    const started = process.hrtime.bigint()
    await ticks(100_000)
    least = Math.min(least, Number(process.hrtime.bigint() - started) / 100_000)
  }
  return least
}
await prepare()
const before = await best()
for (let round = 0; round < 3; round++) {
  await pause(50)
  gc()
}
console.log(JSON.stringify({ before, after: await best() }))
`

async function slowdown(prepare: string): Promise<number> {
  const program = `const prepare = async () => { ${prepare} }\n${measure}`
  const { stdout } = await run(process.execPath, ['--expose-gc', '--input-type=module', '--eval', program])
  const { before, after } = JSON.parse(stdout) as { before: number; after: number }
  return after / before
}

test('ticks stay as quick as they were after garbage was collected in a pause, which they do not by themselves', async () => {
  const ours = JSON.stringify(join(import.meta.dirname, 'ticks.ts'))
  expect(await slowdown(`(await import(${ours})).keepTicksQuick()`)).toBeLessThan(3)
  // When this fails, Node has learned to do it, and there is nothing left to keep.
  expect(await slowdown('')).toBeGreaterThan(3)
})
