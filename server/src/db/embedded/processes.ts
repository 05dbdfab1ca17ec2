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

/** Ended, but nobody has asked for its exit code yet: in a container without an init that can last for ever. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) === 'Z'
  } catch {
    // Nothing to read: it may not be ours to read, or its exit code was asked for a moment ago and it is gone for good.
    return !exists(pid)
  }
}

/** Whether this process is a PostgreSQL on this cluster, and not another program that came by the number. */
export function isPostgresOn(pid: number, clusterDir: string): boolean {
  if (process.platform !== 'linux') {
    const command = spawnSync('ps', ['-p', String(pid), '-o', 'command=']).stdout?.toString() ?? ''
    return command.includes('postgres') && command.includes(` ${clusterDir} `)
  }
  const words = commandOf(pid)
  if (!/(^|\/)postgres$/.test(words[0] ?? '')) return false
  // It works in its cluster's folder, also when that was renamed under it; a root without all rights may not ask.
  return words[words.indexOf('-D') + 1] === clusterDir || workingDirOf(pid) === clusterDir
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
