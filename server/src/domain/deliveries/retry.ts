import type { Db } from '../../db/db.ts'
import { wakeAnywhere } from '../../db/wake.ts'
import type { Clock } from '../../lib/clock.ts'
import { isUuid, withoutPrefix } from '../../lib/ids.ts'
import { refuse } from '../../lib/refuse.ts'
import { requireEndpoint } from './endpoint.ts'
import { retryInSteps } from './engine/hold/steps.ts'
import { lockEndpoints } from './engine/lock-endpoints.sql.ts'
import { planVisits } from './engine/visits.sql.ts'
import { type DeliveryKey, insertRetries } from './retry.sql.ts'

/**
 * Retries a delivery with a new schedule, whatever its state. The first attempt is made even if the endpoint is disabled,
 * so that a person can check whether it works again. If `within` is given, the endpoint must belong to that workspace.
 */
export async function retryDelivery(
  db: Db,
  clock: Clock,
  webhookId: string,
  eventId: string,
  within?: string,
): Promise<void> {
  const { uuid, workspaceId } = await requireEndpoint(db, webhookId, within)
  if (!isUuid(eventId)) refuse('not_found')
  const now = clock.now()
  if ((await retryAll(db, workspaceId, [{ webhookId: uuid, eventId }], now)) === 0) refuse('not_found')
}

/** Retries deliveries of any endpoints of the workspace. Returns how many were found; the others are ignored. */
export async function retryDeliveries(
  db: Db,
  clock: Clock,
  workspaceId: string,
  requested: readonly { webhookId: string; eventId: string }[],
): Promise<number> {
  const deliveries = requested.flatMap(({ webhookId, eventId }) => {
    const uuid = withoutPrefix('whk', webhookId)
    return uuid === undefined || !isUuid(eventId) ? [] : [{ webhookId: uuid, eventId }]
  })
  return retryAll(db, workspaceId, deliveries, clock.now())
}

/** Retries deliveries by their UUIDs. Recordings wait for deliveries of these endpoints too: see `lock-endpoints.sql.ts`. */
export const retryAll = (db: Db, workspaceId: string, deliveries: readonly DeliveryKey[], now: Date): Promise<number> =>
  db.transaction(async (tx) => {
    const webhookIds = [...new Set(deliveries.map(({ webhookId }) => webhookId))]
    await lockEndpoints(tx, webhookIds)
    const count = await insertRetries(tx, { workspaceId, deliveries, now })
    await wakeWorker(tx, workspaceId, webhookIds, now)
    return count
  })

/**
 * Retries the deliveries of an endpoint that failed permanently since a time. Returns how many, and whether more follow in the
 * background because they are too many for one statement.
 */
export async function retryFailedSince(
  db: Db,
  clock: Clock,
  webhookId: string,
  since: Date,
  within?: string,
): Promise<{ count: number; more: boolean }> {
  const { uuid, workspaceId } = await requireEndpoint(db, webhookId, within)
  const now = clock.now()
  const retried = await retryInSteps(db, { webhookId: uuid, workspaceId, since, work: 'retry' }, now)
  await wakeWorker(db, workspaceId, [uuid], now)
  return retried
}

/**
 * Makes due immediately what failed at an endpoint since a time. A delivery that failed permanently gets a new schedule. If the
 * endpoint is disabled, its deliveries are held.
 */
export async function makeDueFailedSince(
  db: Db,
  { webhookId, workspaceId }: { webhookId: string; workspaceId: string },
  since: Date,
  now: Date,
): Promise<void> {
  await retryInSteps(db, { webhookId, workspaceId, since, work: 'rotate' }, now)
  await wakeWorker(db, workspaceId, [webhookId], now)
}

/** Plans a claim of the endpoints' deliveries that are due now. */
async function wakeWorker(db: Db, workspaceId: string, webhookIds: readonly string[], now: Date): Promise<void> {
  await planVisits(db, workspaceId, webhookIds, now)
  db.notify(workspaceId, 'deliveries')
  wakeAnywhere(db, 'deliveries')
}
