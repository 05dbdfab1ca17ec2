import { spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256 } from '../../lib/hash.ts'
import { Unfit } from '../../lib/refuse.ts'
import type { Account } from './account.ts'

export const socketPort = 5432

/** The process id of a PostgreSQL that runs on this cluster, whoever started it. */
export function runningPostmaster(clusterDir: string): number | undefined {
  const pid = recordedPid(clusterDir)
  if (pid === undefined || !isAlive(pid)) return undefined
  return isPostgres(pid) ? pid : undefined
}

/**
 * A `postmaster.pid` whose number now belongs to some other program (after a reboot, or in a container) would keep
 * PostgreSQL from starting.
 */
export function clearStalePid(clusterDir: string): void {
  const pid = recordedPid(clusterDir)
  if (pid !== undefined && isAlive(pid) && !isPostgres(pid)) rmSync(join(clusterDir, 'postmaster.pid'), { force: true })
}

export interface Launched {
  pid: number
  /** Set once the process has ended. */
  exit: Promise<number | null>
}

export function launchPostmaster(
  postgres: string,
  clusterDir: string,
  socketDir: string,
  logFile: string,
  account: Account,
  settings: Record<string, string> = {},
): Launched {
  const all: Record<string, string> = {
    listen_addresses: '',
    unix_socket_directories: socketDir,
    unix_socket_permissions: '0700',
    port: String(socketPort),
    max_connections: '200',
    shared_buffers: '256MB',
    max_wal_size: '2GB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    jit: 'off',
    ...settings,
  }
  if (existsSync(logFile) && statSync(logFile).size > 10_000_000) renameSync(logFile, `${logFile}.old`)
  const log = openSync(logFile, 'a', 0o600)
  try {
    // Its own process group: Ctrl-C in the terminal must reach Parley first, which then stops PostgreSQL in its turn.
    const child = spawn(postgres, ['-D', clusterDir, ...Object.entries(all).flatMap(([k, v]) => ['-c', `${k}=${v}`])], {
      cwd: clusterDir,
      detached: true,
      stdio: ['ignore', log, log],
      env: { TZ: 'UTC', LC_ALL: 'C' },
      ...(account.switched ? { uid: account.uid, gid: account.gid } : {}),
    })
    child.unref()
    const exit = new Promise<number | null>((resolve) => {
      child.once('exit', resolve)
      child.once('error', () => resolve(-1))
    })
    return { pid: child.pid ?? -1, exit }
  } finally {
    closeSync(log)
  }
}

/** Fast shutdown: open transactions are rolled back, everything committed is on disk. */
export async function stopPostmaster(pid: number, timeoutMs = 10_000): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    try {
      process.kill(pid, signal)
    } catch {
      return
    }
    for (const until = Date.now() + timeoutMs; Date.now() < until; await sleep(10)) if (!isAlive(pid)) return
  }
}

/** A Unix socket's path may have about 100 characters; a deeper cluster gets its socket in a private temporary folder. */
export function socketDirFor(clusterDir: string, account: Account): string {
  if (Buffer.byteLength(clusterDir) <= 85) return clusterDir
  const folder = join(tmpdir(), `parley-${sha256(clusterDir).toString('hex').slice(0, 16)}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (account.switched) spawnSync('chown', [`${account.uid}:${account.gid}`, folder])
  if (statSync(folder).uid !== account.uid) {
    throw new Unfit(`${folder} belongs to somebody else, and PostgreSQL's socket would lie there. Remove it.`)
  }
  return folder
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return !isZombie(pid)
}

/** Ended, but nobody has asked for its exit code yet: in a container without an init that can last for ever. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) === 'Z'
  } catch {
    return false
  }
}

function isPostgres(pid: number): boolean {
  if (process.platform === 'linux') {
    try {
      return /postgres/.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'))
    } catch {
      return false
    }
  }
  return /postgres/.test(spawnSync('ps', ['-p', String(pid), '-o', 'comm=']).stdout?.toString() ?? '')
}

function recordedPid(clusterDir: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(clusterDir, 'postmaster.pid'), 'utf8').split('\n')[0])
    return Number.isInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}
