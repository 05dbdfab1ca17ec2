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

/** Longer than PostgreSQL takes from making a lock file to writing it. */
const emptyLockMs = 2000

/** The process id of a PostgreSQL that runs on this cluster, whoever started it. */
export function runningPostmaster(clusterDir: string): number | undefined {
  const pid = recordedPid(pidFile(clusterDir))
  return pid !== undefined && isAlive(pid) && isPostgresOn(pid, clusterDir) ? pid : undefined
}

/**
 * PostgreSQL keeps its process id in two lock files, the cluster's and the socket's. It does not start where that number
 * now belongs to some other program (after a reboot, or in a container), nor where a full disk or a power cut left the
 * file empty; such a file is removed. That the cluster is really in use PostgreSQL would still find out by its shared
 * memory.
 */
export function clearStaleLocks(clusterDir: string, socketDir: string): void {
  for (const file of [pidFile(clusterDir), join(socketDir, `.s.PGSQL.${socketPort}.lock`)]) {
    const about = statSync(file, { throwIfNoEntry: false })
    if (!about) continue
    const pid = recordedPid(file)
    const stale =
      pid === undefined ? Date.now() - about.mtimeMs > emptyLockMs : isAlive(pid) && !isPostgresOn(pid, clusterDir)
    if (stale) rmSync(file, { force: true })
  }
}

export interface Launched {
  pid: number
  /** Resolves once the process has ended. */
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
    // A list, so a folder with a comma in its name has to be quoted.
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
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
 * Fast shutdown: open transactions are rolled back, everything committed is on disk. Where that takes too long, the
 * immediate one: nothing committed is lost, the next start has to recover.
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
 * A Unix socket's path may have about 100 characters; a deeper cluster gets its socket in a private folder below /tmp.
 * Not below TMPDIR, which a service and an operator's shell may each have their own of.
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
  // Anybody may make a folder or a link there. One we did not make is used only if it is what we would have made.
  const about = lstatSync(folder)
  const isOurs = about.isDirectory() && (about.uid === account.uid || about.uid === process.getuid?.())
  if (!isOurs || (about.mode & 0o077) !== 0) {
    throw new StartupError(`${folder} belongs to somebody else, and PostgreSQL's socket would lie there. Remove it.`)
  }
  if (about.uid !== account.uid) chownSync(folder, account.uid, account.gid)
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
