import { databaseNow } from '../../db/database-clock.ts'
import type { Db } from '../../db/db.ts'
import { mayDeleteOld } from '../../db/retention.ts'
import type { Logger } from '../../lib/logger.ts'
import { type Loop, startLoop } from '../../lib/loop.ts'
import type { Network } from '../connections/network.ts'
import { newFetcher } from './fetcher.ts'
import { deleteFilesBefore } from './fetching.sql.ts'

const lookMs = 500
const sweepMs = 600_000

/** Fetches files until stopped: at once what came in here, and what other processes took in or left behind soon after. */
export function startFetching(network: Network, log: Logger, retentionDays: number): Pick<Loop, 'stop'> {
  const { db, clock } = network
  const fetcher = newFetcher(network, log, () => loop.wake())
  const loop = startLoop({ db, log }, 'fetch files', lookMs, async () => void (await fetcher.turn()))
  const sweep = startLoop({ db, log }, 'old files', sweepMs, async () => {
    if (await mayDeleteOld(db, clock, log)) await deleteOldFiles(db, await databaseNow(db, clock), retentionDays)
  })
  return {
    async stop() {
      await Promise.all([loop.stop(), fetcher.stop(), sweep.stop()])
    },
  }
}

const atOnce = 20

/** The contents of files past their retention; that there was a file stays on record. */
export async function deleteOldFiles(db: Db, now: Date, retentionDays: number): Promise<void> {
  const before = new Date(now.getTime() - retentionDays * 86_400_000)
  while ((await deleteFilesBefore(db, before, atOnce)) === atOnce);
}
