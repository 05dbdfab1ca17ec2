import { fork } from 'node:child_process'
import { join } from 'node:path'
import type { Result } from './table.ts'

export type RunBench = (name: string, signal: AbortSignal) => Promise<Result>

/** Runs benchmarks one after another. One that fails does not stop the others. */
export async function runBenches(
  names: readonly string[],
  { run, say, signal }: { run: RunBench; say: (line: string) => void; signal: AbortSignal },
): Promise<Result[]> {
  const results: Result[] = []
  for (const [index, name] of names.entries()) {
    if (signal.aborted) break
    const began = performance.now()
    say(`${index + 1}/${names.length} ${name}`)
    const result = await run(name, signal).catch((error: unknown) => failed(name, String(error)))
    if (signal.aborted) break
    results.push(result)
    const seconds = Math.round((performance.now() - began) / 1000)
    say(`${name} ${result.faults.length === 0 ? 'ended' : 'FAILED'} after ${seconds} s`)
  }
  return results
}

const failed = (bench: string, fault: string): Result => ({ bench, rows: [], faults: [fault] })

/** Runs a benchmark in a process of its own, so that it starts with a fresh heap and cannot stop the others. */
export const runInProcess: RunBench = (name, signal) =>
  new Promise((resolve, reject) => {
    const child = fork(join(import.meta.dirname, '..', 'bench-process.ts'), [name], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // JSON has no NaN.
      serialization: 'advanced',
    })
    let result = failed(name, 'it ended without a result')
    const stop = () => child.kill('SIGTERM')
    signal.addEventListener('abort', stop)
    child.on('message', (message) => {
      result = message as Result
    })
    child.once('error', reject)
    child.once('exit', () => {
      signal.removeEventListener('abort', stop)
      resolve(result)
    })
  })
