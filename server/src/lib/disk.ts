import { statfsSync } from 'node:fs'

/** One segment of PostgreSQL's WAL. With less free space PostgreSQL cannot start, and stops when it needs the next one. */
export const minFreeBytes = 16 * 1024 * 1024

/** The free space of the disk with this folder. Infinite if it is unknown. */
export function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Whether PostgreSQL reports that it cannot write, because its disk is full or fails. The code of a quota says nothing. */
export function isDiskError(error: unknown): boolean {
  const { code, message = '' } = (error ?? {}) as { code?: unknown; message?: string }
  return code === '53100' || code === '58030' || (code === 'XX000' && /could not extend|quota exceeded/i.test(message))
}
