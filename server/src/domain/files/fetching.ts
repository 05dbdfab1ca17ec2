import type { Db } from '../../db/db.ts'
import type { Logger } from '../../lib/logger.ts'
import { type Loop, startLoop } from '../../lib/loop.ts'
import type { Network } from '../connections/network.ts'
import { newFetcher } from './fetcher.ts'
import { deleteFilesBefore, expireFilesOf } from './fetching.sql.ts'

const pollMs = 500

/**
 * Fetches files until stopped. A file that this process received is fetched immediately; the poll finds those of other
 * processes.
 */
export function startFetching(network: Network, log: Logger): Pick<Loop, 'stop'> {
  const { db } = network
  const fetcher = newFetcher(network, log, () => loop.wake())
  const loop = startLoop({ db, log }, 'fetch files', pollMs, async () => void (await fetcher.turn()))
  return {
    async stop() {
      await Promise.all([loop.stop(), fetcher.stop()])
    },
  }
}

const batchSize = 20

/** Deletes the contents of files past their retention. The rows of the files stay. */
export const deleteOldFiles = (db: Db, now: Date, retentionDays: number): Promise<void> =>
  deleteBefore(db, new Date(now.getTime() - retentionDays * 86_400_000))

/**
 * Removes the files of submitted forms. Their bytes are deleted by `deleteExpiredFiles`, or with the next files past their
 * retention. Returns how many there are.
 */
export const expireFiles = async (tx: Db, responseIds: readonly string[]): Promise<number> =>
  responseIds.length === 0 ? 0 : expireFilesOf(tx, responseIds)

/** Deletes the contents of files that were made to expire. */
export const deleteExpiredFiles = (db: Db): Promise<void> => deleteBefore(db, new Date(1))

async function deleteBefore(db: Db, before: Date): Promise<void> {
  while ((await deleteFilesBefore(db, before, batchSize)) === batchSize);
}
