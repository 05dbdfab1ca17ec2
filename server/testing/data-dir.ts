import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** In memory where there is plenty: what PostgreSQL has synced to a disk takes a second or more to remove. */
const shm = '/dev/shm'
const base = existsSync(shm) && freeBytes(shm) > 4 * 1024 ** 3 ? shm : tmpdir()

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize
}

/** An empty folder of one's own that PostgreSQL's account may pass through. */
export function newFolder(prefix = 'parley-test-'): string {
  const folder = mkdtempSync(join(base, prefix))
  chmodSync(folder, 0o711)
  return folder
}

/** Also while a PostgreSQL that is just ending may still write there. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
}

/** Copies a stopped data directory with its owners, which takes a fraction of making one. */
export function copyDataDir(from: string, to: string): string {
  execFileSync('cp', ['-a', from, to])
  return to
}

/** The number of the PostgreSQL that runs on a data directory, or ran last and did not end properly. */
export function postmasterPid(dataDir: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
    // For a moment the file is there and empty; 0 would be this process's own group.
    return pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}
