import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface Target {
  port: number
  /** CPU time used so far, in microseconds; NaN if unknown. */
  cpuUs(): number
  /** CPU time of the process and all its descendants, including a database. */
  treeCpuUs(): number
  /** The memory of the process. */
  memoryMb(): number
  /** Sends a signal to all its descendants: its database. */
  signalDescendants(signal: NodeJS.Signals): void
  stop(): Promise<void>
}

/** Starts a target of targets.ts in its own process. */
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
      treeCpuUs: () => treeOf(child.pid ?? 0).reduce((sum, pid) => sum + (cpuUsOf(pid) || 0), 0),
      memoryMb: () => memoryMbOf(child.pid ?? 0),
      signalDescendants(signal) {
        for (const pid of treeOf(child.pid ?? 0).slice(1)) process.kill(pid, signal)
      },
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

function memoryMbOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

function treeOf(root: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
    } catch {
      // The process has ended meanwhile.
    }
  }
  const tree = [root]
  for (const pid of tree) for (const [child, parent] of parents) if (parent === pid) tree.push(child)
  return tree
}
