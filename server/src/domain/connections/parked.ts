/**
 * Updates for phone numbers of a connected account that are not synced yet. Each is stored as a webhook of its own, and
 * makes a sync due immediately:
 *
 *   parked → the sync lists the number → published and deleted in one transaction
 *          → the sync fails or does not list it → the sync is repeated; the update waits
 *          → older than the retention → deleted and logged
 */
import type { Db } from '../../db/db.ts'
import { inBatches } from '../../db/in-batches.ts'
import { withIndexLookups } from '../../db/planner-settings.ts'
import { readAt } from '../../db/revisioned-cache.ts'
import { wakeAnywhere } from '../../db/wake.ts'
import { sha256 } from '../../lib/hash.ts'
import { firstIdAt, newUuid } from '../../lib/ids.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { type Destination, destinationsOf } from '../senders/senders.ts'
import {
  bringSyncsForward,
  countParkedByNumber,
  deleteParkedBefore,
  insertParked,
  lockNumber,
  numbersWithParked,
  type ParkedNumber,
  postponeRelease,
  type TakenUpdate,
  takeOldestParked,
  type UnlistedNumber,
} from './parked.sql.ts'

export { countParked, type WaitingNumber, waitingNumbers } from './parked.sql.ts'
export type { TakenUpdate, UnlistedNumber }

/** An update for an unknown number, as a webhook of its own. */
export interface UnknownUpdate {
  appId: string
  wabaId: string
  phoneNumberId: string
  webhook: string
}

export type ParkOutcome = 'parked' | 'repeated' | 'not_connected'

const gaps = { normalSeconds: 3, afterFailureSeconds: 15 }

/**
 * Stores the updates of connected accounts, each once, and makes a sync due for every number that had no parked
 * updates. The outcomes are in the order of the updates. Run in the transaction that is committed before the network
 * gets its 200.
 */
export async function parkUpdates(db: Db, now: Date, updates: readonly UnknownUpdate[]): Promise<ParkOutcome[]> {
  if (updates.length === 0) return []
  const rows = updates.map((update) => ({
    ...update,
    id: newUuid(now.getTime()),
    digest: sha256(update.webhook),
  }))
  const parked = new Map((await insertParked(db, { updates: rows, now })).map((row) => [row.id, row]))
  const first = [...parked.values()].filter(({ isFirst }) => isFirst)
  if (first.length > 0) {
    const connectionIds = [...new Set(first.map(({ connectionId }) => connectionId))]
    await bringSyncsForward(db, connectionIds, now, gaps)
    wakeAnywhere(db, 'sync accounts')
  }
  return rows.map(({ id }) => {
    const row = parked.get(id)
    if (!row) return 'not_connected'
    return row.isStored ? 'parked' : 'repeated'
  })
}

/** A number with parked updates that is known now, with the destination of its updates. */
export type KnownNumber = ParkedNumber & Destination

/** The numbers that have parked updates and are known now. */
export async function releasableNumbers(db: Db): Promise<KnownNumber[]> {
  const parked = await numbersWithParked(db, null)
  const known = await destinationsByNumber(db, parked)
  return parked.flatMap((number) => {
    const destination = known.get(keyOf(number))
    return destination ? [{ ...number, ...destination }] : []
  })
}

/** A connection's numbers with parked updates that are still unknown. */
export async function unlistedNumbers(db: Db, connectionId: string): Promise<UnlistedNumber[]> {
  const parked = await numbersWithParked(db, connectionId)
  const known = await destinationsByNumber(db, parked)
  const unlisted = parked.filter((number) => !known.has(keyOf(number))).map(({ phoneNumberId }) => phoneNumberId)
  return unlisted.length === 0 ? [] : countParkedByNumber(db, connectionId, unlisted)
}

const keyOf = ({ appId, phoneNumberId }: Omit<ParkedNumber, 'connectionId'>): string => `${appId} ${phoneNumberId}`

async function destinationsByNumber(db: Db, parked: readonly ParkedNumber[]): Promise<Map<string, Destination>> {
  if (parked.length === 0) return new Map()
  const found = readAt(await destinationsOf(db, parked), 'senderId', (each) => [keyOf(each), each])
  return new Map(found.values)
}

const perTransaction = { updates: 100, bytes: 1_000_000 }

/**
 * Takes the oldest parked updates of a number for publishing in the same transaction. Empty if there are none, or if
 * another process is releasing this number.
 */
export async function takeParked(tx: Db, number: KnownNumber, now: Date, most = perTransaction.updates) {
  if (!(await lockNumber(tx, number))) return []
  return takeOldestParked(tx, number, now, { ...perTransaction, updates: most })
}

const postponeMs = 5 * 60_000

/** An update that cannot be published must not block those behind it. */
export const postponeParked = (db: Db, number: KnownNumber, id: string, now: Date): Promise<number> =>
  postponeRelease(db, number, id, new Date(now.getTime() + postponeMs))

/** Deletes parked updates that are older than the retention. */
export async function deleteOldParked(db: Db, log: Logger, now: Date, retentionDays: number): Promise<void> {
  const beforeId = firstIdAt(new Date(now.getTime() - retentionDays * 86_400_000))
  const updates = await inBatches((limit) => withIndexLookups(db, (tx) => deleteParkedBefore(tx, beforeId, limit)))
  if (updates > 0) {
    const fields = { event: 'parked_updates.expired', updates, retention_days: retentionDays } as const
    log.warn(fields, 'parked updates expired: no sync found their numbers within the retention')
  }
}
