import type { Db } from '../../db/db.ts'
import { type Loop, startLoop } from '../../db/loop.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Network } from '../connections/network.ts'
import { newFetcher } from './fetcher.ts'
import { deleteExpiredBefore, deleteFilesBefore, expireFilesOf, type FileOwner } from './fetching.sql.ts'
import { deleteUploadsBefore } from './uploads.sql.ts'

const pollMs = 500

/**
 * Fetches files until stopped. A file that this process received is fetched immediately; the poll finds those of other
 * processes.
 */
export function startFetching(network: Network, log: Logger, maxStoredBytes: number): Pick<Loop, 'stop'> {
  const { db } = network
  const fetcher = newFetcher(network, log, { maxStoredBytes, onSlotFree: () => loop.wake() })
  const loop = startLoop({ db, log }, 'fetch files', pollMs, async () => void (await fetcher.turn()))
  return {
    async stop() {
      await Promise.all([loop.stop(), fetcher.stop()])
    },
  }
}

const batchSize = 20

/** Deletes the contents of files past their retention. The rows of the files stay. Then deletes expired uploads. */
export async function deleteOldFiles(db: Db, now: Date, retentionDays: number): Promise<void> {
  const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000)
  await deleteBefore(db, daysAgo(retentionDays))
  while ((await deleteExpiredBefore(db, daysAgo(expiredKeptDays), batchSize)) === batchSize);
  while ((await deleteUploadsBefore(db, daysAgo(expiredKnownDays), batchSize)) === batchSize);
}

/**
 * Removes the files of submitted forms and of inbound messages. Their bytes are deleted by `deleteExpiredFiles`, or with the next
 * files past their retention. Returns how many there are.
 */
export const expireFiles = async (tx: Db, owner: FileOwner, ids: readonly string[]): Promise<number> =>
  ids.length === 0 ? 0 : expireFilesOf(tx, owner, ids)

/** Deletes the contents of files that were made to expire. */
export const deleteExpiredFiles = (db: Db): Promise<void> => deleteBefore(db, new Date(1))

async function deleteBefore(db: Db, before: Date): Promise<void> {
  while ((await deleteFilesBefore(db, before, batchSize)) === batchSize);
}

/** A message that was accepted before the file expired may be sent for 24 hours. */
const expiredKeptDays = 1
/** For this long, a request that names the file gets the error that it has expired. */
const expiredKnownDays = 30
