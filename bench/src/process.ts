import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface Target {
  port: number
  /** Processor time used so far, in microseconds; NaN where the system does not tell. */
  cpuUs(): number
  stop(): Promise<void>
}

/** Starts one of targets.ts in a process of its own. */
export async function startTarget(name: string, argument = ''): Promise<Target> {
  const flags = (process.env.BENCH_NODE_FLAGS ?? '').split(' ').filter(Boolean)
  const child = spawn(process.execPath, [...flags, join(import.meta.dirname, 'targets.ts'), name, argument], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  for await (const line of createInterface({ input: child.stdout })) {
    const port = Number(/^port (\d+)$/.exec(line)?.[1])
    if (!port) continue
    return {
      port,
      cpuUs: () => cpuUsOf(child.pid ?? 0),
      async stop() {
        child.kill('SIGTERM')
        await exit
      },
    }
  }
  throw new Error(`${name} did not start`)
}

function cpuUsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // User and system time, in hundredths of a second.
    return (Number(fields[11]) + Number(fields[12])) * 10_000
  } catch {
    return Number.NaN
  }
}
