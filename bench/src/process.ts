import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface Target {
  port: number
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
      async stop() {
        child.kill('SIGTERM')
        await exit
      },
    }
  }
  throw new Error(`${name} did not start`)
}
