import { machineCpuUs, treeCpuUsOf } from './cpu.ts'

/**
 * Starts to watch what other programs do. The result returns the share of the machine's CPU time that they have used since
 * then, in percent: all that was not used by this process and its descendants.
 */
export function watchNoise(): () => number {
  const readings = () => ({ ...machineCpuUs(), ours: treeCpuUsOf(process.pid) })
  const before = readings()
  return () => {
    const after = readings()
    const others = after.used - before.used - (after.ours - before.ours)
    return Math.max(0, (others / (after.total - before.total)) * 100)
  }
}
