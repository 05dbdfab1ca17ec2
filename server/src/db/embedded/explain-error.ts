import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freeBytes, minFreeBytes } from '../../lib/disk.ts'
import { StartupError } from '../../lib/refuse.ts'

/** Turns an error from the data directory or from PostgreSQL into one line that says what is wrong and what to do. */
export function toStartupError(error: unknown, dataDir: string): Error {
  if (error instanceof StartupError) return error
  const message = error instanceof Error ? error.message : String(error)
  const { code, path, syscall } = (error ?? {}) as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT' || /no space left|quota exceeded/i.test(message)) return diskFull(dataDir)
  if (
    code === 'EACCES' ||
    code === 'EPERM' ||
    code === 'EROFS' ||
    /permission denied|read-only file system/i.test(message)
  ) {
    return new StartupError(
      `Cannot write to the data directory ${dataDir} (${firstLine(message)}). Give this user write permission, or set PARLEY_DATA_DIR to another directory.`,
    )
  }
  if (code === 'ENOTDIR' || code === 'EEXIST') {
    return new StartupError(
      `The data directory ${dataDir} is not a directory (${firstLine(message)}). Set PARLEY_DATA_DIR to a directory.`,
    )
  }
  // Any other error of a file or folder. Errors of connections have no path.
  if (path !== undefined && !syscall?.startsWith('spawn')) {
    return new StartupError(
      `Cannot use the data directory ${dataDir} (${firstLine(message)}). Set PARLEY_DATA_DIR to another directory.`,
    )
  }
  if (code === '28P01') {
    return new StartupError(
      `The password in ${dataDir}/database-password does not match the database in ${dataDir}/postgres. Restore the file from your backup of ${dataDir}.`,
    )
  }
  // On a full disk PostgreSQL may exit without an error message, because its log is on the same disk.
  if (freeBytes(dataDir) < minFreeBytes) return diskFull(dataDir)
  const logFile = join(dataDir, 'postgres.log')
  const hint = existsSync(logFile) ? ` See ${logFile}.` : ''
  return new StartupError(
    `The embedded PostgreSQL in ${dataDir} did not start: ${firstLine(message).replace(/\.$/, '')}.${hint}`,
  )
}

const diskFull = (dataDir: string): StartupError =>
  new StartupError(
    `The disk with ${dataDir} is full. Free some space, or move the directory to a larger disk and set PARLEY_DATA_DIR.`,
  )

/**
 * The last error that the process `pid` logged after byte `from`: its last FATAL or PANIC, or else its last line. Lines
 * of other processes are skipped, because backends of a server that was killed may still write to the same log.
 */
export function lastLogLine(logFile: string, from: number, pid: number): string {
  if (!existsSync(logFile)) return nothingLogged
  const log = readFileSync(logFile)
  const lines = log
    .subarray(from <= log.length ? from : 0)
    .toString()
    .split('\n')
    .filter((line) => line !== '' && (/ UTC \[(\d+)\] /.exec(line)?.[1] ?? String(pid)) === String(pid))
  const line = lines.findLast((line) => /(FATAL|PANIC|error while loading)/.test(line)) ?? lines.at(-1)
  return line?.replace(/^.*?(FATAL|PANIC):\s*/, '') ?? nothingLogged
}

const nothingLogged = 'it exited without a log message'

const firstLine = (text: string): string => text.split('\n')[0]?.trim() ?? ''
