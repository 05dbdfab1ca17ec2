import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { serviceFlags } from '../../../scripts/launch.mjs'
import { cpuUsOf, memoryMbOf, treeCpuUsOf, treeOf } from './cpu.ts'

export interface Target {
  port: number
  /** CPU time of the process so far, in microseconds; NaN if unknown. */
  cpuUs(): number
  /** CPU time of the process and all its descendants, including a database. */
  treeCpuUs(): number
  /** The memory of the process. */
  memoryMb(): number
  /** Sends a signal to all its descendants: its database. */
  signalDescendants(signal: NodeJS.Signals): void
  stop(): Promise<void>
}

const isService = (name: string): boolean => name === 'parley' || name === 'role'

/** Starts a target of targets.ts in its own process. */
export async function startTarget(name: string, argument = ''): Promise<Target> {
  const flags = process.env.BENCH_NODE_FLAGS?.split(' ').filter(Boolean) ?? (isService(name) ? serviceFlags : [])
  const file = join(import.meta.dirname, '..', 'targets', 'targets.ts')
  // Its standard input ends when this process does, however that happens. Then it stops too.
  const child = spawn(process.execPath, [...flags, file, name, argument], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const pid = child.pid ?? 0
  for await (const line of createInterface({ input: child.stdout })) {
    const port = Number(/^port (\d+)$/.exec(line)?.[1])
    if (!port) continue
    return {
      port,
      cpuUs: () => cpuUsOf(pid),
      treeCpuUs: () => treeCpuUsOf(pid),
      memoryMb: () => memoryMbOf(pid),
      signalDescendants(signal) {
        for (const each of treeOf(pid).slice(1)) {
          try {
            process.kill(each, signal)
          } catch {
            // The process has ended.
          }
        }
      },
      async stop() {
        child.kill('SIGTERM')
        await exit
      },
    }
  }
  throw new Error(`${name} did not start`)
}

/** CPU time that a piece of work took, in microseconds: of the process, and of its PostgreSQL. */
export interface CpuUs {
  process: number
  postgres: number
}

export async function withCpu<T>(target: Target, work: () => Promise<T>): Promise<{ result: T; cpuUs: CpuUs }> {
  const read = () => ({ process: target.cpuUs(), tree: target.treeCpuUs() })
  const before = read()
  const result = await work()
  const after = read()
  const ofProcess = after.process - before.process
  return { result, cpuUs: { process: ofProcess, postgres: after.tree - before.tree - ofProcess } }
}
