import type { Db } from '../../db/db.ts'
import { wakeAnywhere } from '../../db/wake.ts'
import type { Clock } from '../../lib/clock.ts'
import { isUuid, withoutPrefix } from '../../lib/ids.ts'
import { refuse } from '../../lib/refuse.ts'
import { requireEndpoint } from './endpoint.ts'
import { insertRetries, insertRetriesSince } from './retry.sql.ts'

/**
 * Delivers an event to an endpoint once more, whatever became of the delivery so far, with a fresh schedule. The first
 * attempt is made even while the endpoint is disabled: a person wants to see whether it works again.
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
  const input = { workspaceId, deliveries: [{ webhookId: uuid, eventId }], now: clock.now() }
  if ((await insertRetries(db, input)) === 0) refuse('not_found')
  wakeFor(db, workspaceId)
}

/** The same for several, of several endpoints; says how many there were. What is not this workspace's is not there. */
export async function retryDeliveries(
  db: Db,
  clock: Clock,
  workspaceId: string,
  named: readonly { webhookId: string; eventId: string }[],
): Promise<number> {
  const deliveries = named.flatMap(({ webhookId, eventId }) => {
    const uuid = withoutPrefix('whk', webhookId)
    return uuid === undefined || !isUuid(eventId) ? [] : [{ webhookId: uuid, eventId }]
  })
  const count = await insertRetries(db, { workspaceId, deliveries, now: clock.now() })
  wakeFor(db, workspaceId)
  return count
}

/** The same for all that failed for good since a time; says how many there were. */
export async function retryFailedSince(
  db: Db,
  clock: Clock,
  webhookId: string,
  since: Date,
  within?: string,
): Promise<number> {
  const { uuid, workspaceId } = await requireEndpoint(db, webhookId, within)
  const count = await insertRetriesSince(db, { webhookId: uuid, workspaceId, since, now: clock.now() })
  wakeFor(db, workspaceId)
  return count
}

function wakeFor(db: Db, workspaceId: string): void {
  db.notify(workspaceId, 'deliveries')
  wakeAnywhere(db, 'deliveries', workspaceId)
}
