import { spawn } from 'node:child_process'
import {
  chownSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256 } from '../../lib/hash.ts'
import { StartupError } from '../../lib/refuse.ts'
import type { Account } from './account.ts'
import { isAlive, isPostgresOn } from './processes.ts'

export const socketPort = 5432

/** Longer than PostgreSQL takes between creating a lock file and writing to it. */
const emptyLockMs = 2000

/** The process ID of the PostgreSQL that runs on this cluster, even if another process started it. */
export function runningPostmaster(clusterDir: string): number | undefined {
  const pid = recordedPid(pidFile(clusterDir))
  return pid !== undefined && isAlive(pid) && isPostgresOn(pid, clusterDir) ? pid : undefined
}

/**
 * PostgreSQL writes its process ID to two lock files, one for the cluster and one for the socket. It does not start if
 * that ID now belongs to another program (after a reboot, or in a container), or if a full disk or a power cut left the
 * file empty. This removes such files. If the cluster is in use after all, PostgreSQL still detects it by its shared
 * memory.
 */
export function clearStaleLocks(clusterDir: string, socketDir: string): void {
  for (const file of [pidFile(clusterDir), join(socketDir, `.s.PGSQL.${socketPort}.lock`)]) {
    const stats = statSync(file, { throwIfNoEntry: false })
    if (!stats) continue
    const pid = recordedPid(file)
    const stale =
      pid === undefined ? Date.now() - stats.mtimeMs > emptyLockMs : isAlive(pid) && !isPostgresOn(pid, clusterDir)
    if (stale) rmSync(file, { force: true })
  }
}

export interface Launched {
  pid: number
  exit: Promise<void>
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
    // The setting is a list, so a directory name with a comma has to be quoted.
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    port: String(socketPort),
    max_connections: '200',
    shared_buffers: '256MB',
    max_wal_size: '2GB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...settings,
  }
  if (existsSync(logFile) && statSync(logFile).size > 10_000_000) renameSync(logFile, `${logFile}.old`)
  const log = openSync(logFile, 'a', 0o600)
  try {
    // Its own process group: Ctrl-C must only reach Parley, which then stops PostgreSQL.
    const child = spawn(postgres, ['-D', clusterDir, ...Object.entries(all).flatMap(([k, v]) => ['-c', `${k}=${v}`])], {
      cwd: clusterDir,
      detached: true,
      stdio: ['ignore', log, log],
      env: { TZ: 'UTC', LC_ALL: 'C' },
      ...(account.switched ? { uid: account.uid, gid: account.gid } : {}),
    })
    child.unref()
    const exit = new Promise<void>((resolve) => {
      child.once('exit', () => resolve())
      child.once('error', () => resolve())
    })
    return { pid: child.pid ?? -1, exit }
  } finally {
    closeSync(log)
  }
}

/**
 * Fast shutdown: open transactions are rolled back and committed data is on disk. If that takes too long, immediate
 * shutdown: no committed data is lost, but the next start has to recover.
 */
export async function stopPostmaster(pid: number, timeoutMs = 4000): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    try {
      process.kill(pid, signal)
    } catch {
      return
    }
    for (const until = Date.now() + timeoutMs; Date.now() < until; await sleep(10)) if (!isAlive(pid)) return
  }
}

/**
 * The path of a Unix socket is limited to about 100 characters. If the cluster's path is too long, the socket is in a
 * private directory in /tmp. TMPDIR is not used: it can differ between the service and an operator's shell.
 */
export function socketDirFor(clusterDir: string, account: Account): string {
  if (Buffer.byteLength(clusterDir) <= 85) return clusterDir
  const folder = join(
    existsSync('/tmp') ? '/tmp' : tmpdir(),
    `parley-${sha256(clusterDir).toString('hex').slice(0, 16)}`,
  )
  try {
    mkdirSync(folder, { mode: 0o700 })
    if (account.switched) chownSync(folder, account.uid, account.gid)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  // Any user can create a directory or a link in /tmp. An existing one is used only if its owner and mode are right.
  const stats = lstatSync(folder)
  const isOurs = stats.isDirectory() && (stats.uid === account.uid || stats.uid === process.getuid?.())
  if (!isOurs || (stats.mode & 0o077) !== 0) {
    throw new StartupError(
      `Cannot use ${folder} for the PostgreSQL socket: it belongs to another user or is not a private directory. Remove it and start again.`,
    )
  }
  if (stats.uid !== account.uid) chownSync(folder, account.uid, account.gid)
  return folder
}

const pidFile = (clusterDir: string): string => join(clusterDir, 'postmaster.pid')

function recordedPid(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, 'utf8').split('\n')[0])
    return Number.isInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}
