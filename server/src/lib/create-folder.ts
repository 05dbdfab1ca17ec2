import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a folder, and the folders above it that are missing. Returns false if it exists. Unlike `mkdirSync` with
 * `recursive`, it fails where no folder can be created, as in /proc. That one tries again without end, and no signal is handled.
 */
export function createFolder(path: string, mode = 0o777): boolean {
  if (isFolder(path)) return false
  const above = dirname(path)
  if (above !== path) createFolder(above, mode)
  try {
    mkdirSync(path, { mode })
    return true
  } catch (error) {
    // Another process may have created it.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && isFolder(path)) return false
    throw error
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
