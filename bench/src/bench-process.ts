// Runs one benchmark in this process: `node bench-process.ts <name>`. Sends its result to the process that started it.
import { benches } from './benches.ts'
import { watchNoise } from './lib/noise.ts'
import { Scope } from './lib/scope.ts'
import type { Result } from './lib/table.ts'

const bench = benches.find(({ name }) => name === process.argv[2])
if (!bench) throw new Error(`no benchmark ${process.argv[2]}`)
const scope = new Scope((line) => console.error(`  ${line}`))

let isInterrupted = false
async function interrupt(): Promise<void> {
  if (isInterrupted) return
  isInterrupted = true
  await scope.end()
  process.exit(130)
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void interrupt())
// The process that started it was killed.
process.once('disconnect', () => void interrupt())

const send = (result: Result) => new Promise<void>((resolve) => process.send?.(result, () => resolve()))

const noise = watchNoise()
try {
  const rows = await bench.run(scope)
  const share = noise()
  // Rows that were not measured in rounds have the noise of the whole benchmark.
  const complete = rows.map((row) => ({ noise: share, ...row }))
  if (!isInterrupted) await send({ bench: bench.name, rows: complete, faults: scope.faults })
} catch (error) {
  if (!isInterrupted) {
    console.error(error)
    const message = error instanceof Error ? error.message : String(error)
    await send({ bench: bench.name, rows: [], faults: [...scope.faults, `it failed: ${message}`] })
  }
}
if (!isInterrupted) {
  await scope.end()
  process.exit(0)
}
