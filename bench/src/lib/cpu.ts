/** CPU time and memory of processes and of the machine, from /proc. NaN or nothing on systems without it. */
import { readdirSync, readFileSync } from 'node:fs'

/** The kernel counts in hundredths of a second. */
const tickUs = 10_000

/** CPU time of a process so far, in microseconds. */
export const cpuUsOf = (pid: number): number => ticksOf(pid, 11, 13) * tickUs

/** CPU time of a process and all its descendants, including those that have ended. */
export const treeCpuUsOf = (root: number): number =>
  treeOf(root).reduce((sum, pid) => sum + (ticksOf(pid, 11, 15) || 0), 0) * tickUs

/** CPU time of the children of this process that have ended. */
export const endedChildrenCpuUs = (): number => ticksOf(process.pid, 13, 15) * tickUs

/** The resident memory of a process. */
export function memoryMbOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1]) / 1024
}

/** CPU time of the whole machine: all of it, and what was used or withheld by a hypervisor. */
export function machineCpuUs(): { total: number; used: number } {
  const ticks = (read('/proc/stat').split('\n', 1)[0] ?? '').trim().split(/\s+/).slice(1, 9).map(Number)
  const [user = Number.NaN, nice = 0, system = 0, idle = 0, ioWait = 0, irq = 0, softIrq = 0, stolen = 0] = ticks
  const used = user + nice + system + irq + softIrq + stolen
  return { total: (used + idle + ioWait) * tickUs, used: used * tickUs }
}

/** A process and its descendants. */
export function treeOf(root: number): number[] {
  const parents = new Map<number, number>()
  for (const pid of processIds()) {
    const parent = Number(statOf(pid)[1])
    if (!Number.isNaN(parent)) parents.set(pid, parent)
  }
  const tree = [root]
  for (const pid of tree) for (const [child, parent] of parents) if (parent === pid) tree.push(child)
  return tree
}

function processIds(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

/** User and system time; up to field 15 also those of the children that have ended. */
const ticksOf = (pid: number, from: number, to: number): number => {
  const fields = statOf(pid).slice(from, to)
  return fields.length === 0 ? Number.NaN : fields.reduce((sum, field) => sum + Number(field), 0)
}

/** The fields after the name of the program, which may contain spaces. */
function statOf(pid: number): string[] {
  const stat = read(`/proc/${pid}/stat`)
  return stat === '' ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    // The process has ended.
    return ''
  }
}
