import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { StartupError } from '../../lib/refuse.ts'

/** With less than this PostgreSQL cannot even write one segment of its log. */
const tooLittleBytes = 16 * 1024 * 1024

/** Turns what can happen to a data directory into one line that says what to do. */
export function explain(error: unknown, dataDir: string): Error {
  if (error instanceof StartupError) return error
  const words = error instanceof Error ? error.message : String(error)
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  if (code === 'ENOSPC' || code === 'EDQUOT' || /no space left|quota exceeded/i.test(words)) return full(dataDir)
  if (
    code === 'EACCES' ||
    code === 'EPERM' ||
    code === 'EROFS' ||
    /permission denied|read-only file system/i.test(words)
  ) {
    return new StartupError(
      `The data directory ${dataDir} cannot be written (${firstLine(words)}). Give this user the right to write there, or set PARLEY_DATA_DIR to another place.`,
    )
  }
  if (code === 'ENOTDIR' || code === 'EEXIST') {
    return new StartupError(`PARLEY_DATA_DIR is ${dataDir}, but that is not a folder (${firstLine(words)}).`)
  }
  if (code === '28P01') {
    return new StartupError(
      `${dataDir}/database-password is not the password of the database beside it. Restore it from your back-up of that folder.`,
    )
  }
  // On a full disk PostgreSQL may end without a word, for its words go to the same disk.
  if (freeBytes(dataDir) < tooLittleBytes) return full(dataDir)
  return new StartupError(`The embedded PostgreSQL in ${dataDir} does not start: ${firstLine(words)}`)
}

const full = (dataDir: string): StartupError =>
  new StartupError(`The disk that holds ${dataDir} is full. Free some space, or set PARLEY_DATA_DIR to another place.`)

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/**
 * What this PostgreSQL wrote last before it ended, from this byte of the log on: its last FATAL or PANIC, or its last line.
 * The last of a server that was killed may be writing to the same log, each line under its own process id.
 */
export function lastLogLines(logFile: string, from: number, pid: number): string {
  if (!existsSync(logFile)) return 'it wrote nothing'
  const log = readFileSync(logFile)
  const lines = log
    .subarray(from <= log.length ? from : 0)
    .toString()
    .split('\n')
    .filter((line) => line !== '' && (/ UTC \[(\d+)\] /.exec(line)?.[1] ?? String(pid)) === String(pid))
  const telling = lines.findLast((line) => /(FATAL|PANIC|error while loading)/.test(line)) ?? lines.at(-1)
  return telling?.replace(/^.*?(FATAL|PANIC):\s*/, '') ?? 'it wrote nothing'
}

const firstLine = (text: string): string => text.split('\n')[0]?.trim() ?? ''
