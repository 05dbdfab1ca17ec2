/**
 * Publishes parked updates when a sync has found their numbers. A batch is published and deleted in one transaction, so each
 * update is published once even if a process dies in between. Maintenance looks for them every two seconds.
 */
import type { Db } from '../../../db/db.ts'
import { NotOwner } from '../../../db/maintenance.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import { readWebhook } from '../../../whatsapp/incoming/incoming.ts'
import {
  type KnownNumber,
  postponeParked,
  releasableNumbers,
  type TakenUpdate,
  takeParked,
} from '../../connections/parked.ts'
import { storeUpdates } from '../../updates/updates.ts'
import { isUpdate, saveUpdates } from './record-updates.ts'

interface ReleaseDeps {
  db: Db
  clock: Clock
  log: Logger
  publicUrl: string
}

/** Publishes all parked updates whose numbers are known. Returns how many. */
export async function releaseParked(deps: ReleaseDeps): Promise<number> {
  const { db } = deps
  let released = 0
  let numbers = await releasableNumbers(db)
  // The numbers take turns, so that one with thousands of updates does not delay the others.
  while (numbers.length > 0) {
    const remaining: KnownNumber[] = []
    for (const number of numbers) {
      const count = await releaseBatch(deps, number)
      released += count
      if (count > 0) remaining.push(number)
    }
    numbers = remaining
  }
  return released
}

async function releaseBatch(deps: ReleaseDeps, number: KnownNumber): Promise<number> {
  const { log } = deps
  try {
    const count = await publishOldest(deps, number)
    if (count > 0) logReleased(log, number, count)
    return count
  } catch (error) {
    if (error instanceof NotOwner) throw error
    log.warn(
      { event: 'parked_updates.batch_failed', err: error },
      'publishing a batch of parked updates failed; publishing each alone',
    )
    return releaseOldest(deps, number)
  }
}

/** Publishes one update. If it fails, it is postponed so that the updates after it are published. */
async function releaseOldest(deps: ReleaseDeps, number: KnownNumber): Promise<number> {
  const { db, clock, log } = deps
  let failing: TakenUpdate | undefined
  try {
    const count = await publishOldest(deps, number, 1, (update) => {
      failing = update
    })
    if (count > 0) logReleased(log, number, count)
    return count
  } catch (error) {
    // The update was not even read, so the database failed, not the update.
    if (!failing) throw error
    await postponeParked(db, number, failing.id, clock.now())
    const { connectionId, phoneNumberId } = number
    const fields = { connection_id: connectionId, phone_number_id: phoneNumberId, id: failing.id, err: error }
    log.error(
      { event: 'parked_updates.release_failed', ...fields },
      'publishing a parked update failed; retrying in 5 minutes',
    )
    return 1
  }
}

function publishOldest(
  { db, clock, publicUrl }: ReleaseDeps,
  number: KnownNumber,
  max?: number,
  onTaken: (update: TakenUpdate) => void = () => {},
): Promise<number> {
  const now = clock.now()
  return db.transaction(async (tx) => {
    const updates = await takeParked(tx, number, now, max)
    if (updates[0]) onTaken(updates[0])
    const read = updates.map(({ webhook, receivedAt }) => ({
      webhook,
      items: readWebhook(JSON.parse(webhook), receivedAt),
    }))
    const { appId, workspaceId, senderId } = number
    const unread = read.flatMap(({ webhook, items }) =>
      items.flatMap((item) => (item.kind === 'unread' ? [{ ...item, appId, workspaceId, senderId, webhook }] : [])),
    )
    await storeUpdates(tx, now, unread)
    const routed = read.flatMap(({ items }) => items.filter(isUpdate).map((item) => ({ item, destination: number })))
    await saveUpdates(tx, now, routed, publicUrl)
    return updates.length
  })
}

function logReleased(log: Logger, { connectionId, phoneNumberId }: KnownNumber, updates: number): void {
  const fields = { connection_id: connectionId, phone_number_id: phoneNumberId, updates }
  log.info({ event: 'parked_updates.released', ...fields }, 'published parked updates')
}
