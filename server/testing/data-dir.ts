import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * In memory if there is enough: removing files that PostgreSQL has synced to a disk takes a second or more. The process that
 * sets PARLEY_TEST_FOLDER removes that folder with everything in it.
 */
const shm = '/dev/shm'
const base = process.env.PARLEY_TEST_FOLDER ?? (existsSync(shm) && freeBytes(shm) > 4 * 1024 ** 3 ? shm : tmpdir())

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize
}

/** Creates an empty folder that PostgreSQL's account can pass through. */
export function newFolder(prefix = 'parley-test-'): string {
  const folder = mkdtempSync(join(base, prefix))
  chmodSync(folder, 0o711)
  return folder
}

/** Retries, because a PostgreSQL that is shutting down may still write there. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
}

/** Copies a stopped data directory with its owners, which is much faster than creating one. */
export function copyDataDir(from: string, to: string): string {
  execFileSync('cp', ['-a', from, to])
  return to
}

/** The process ID of the PostgreSQL that runs on a data directory, or that ran last and was killed. */
export function postmasterPid(dataDir: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
    // The file is empty for a moment. A process ID of 0 would mean our own process group.
    return pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}
