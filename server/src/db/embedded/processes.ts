import { spawnSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'

export const isAlive = (pid: number): boolean => exists(pid) && !isZombie(pid)

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * The process has ended, but its parent has not read the exit code. In a container without an init it stays like that.
 */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) === 'Z'
  } catch {
    // The file is not readable for us, or the exit code was read a moment ago and the process is gone.
    return !exists(pid)
  }
}

/** Whether `pid` is a PostgreSQL on this cluster, and not another program that got the same process ID. */
export function isPostgresOn(pid: number, clusterDir: string): boolean {
  if (process.platform !== 'linux') {
    const command = spawnSync('ps', ['-p', String(pid), '-o', 'command=']).stdout?.toString() ?? ''
    return command.includes('postgres') && command.includes(` ${clusterDir} `)
  }
  const args = commandOf(pid)
  if (!/(^|\/)postgres$/.test(args[0] ?? '')) return false
  // PostgreSQL's working directory is its cluster, even if the directory was renamed since. Without all capabilities
  // root cannot read it, so the `-D` argument is checked too.
  return args[args.indexOf('-D') + 1] === clusterDir || workingDirOf(pid) === clusterDir
}

function commandOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}

function workingDirOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}
