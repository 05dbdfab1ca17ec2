/**
 * Enabling, disabling and deleting endpoints. Their deliveries are not rewritten: claims read whether an endpoint is enabled,
 * and readers show the open deliveries of a disabled one as held.
 */
import type { WebhookDisabledData } from '@parley/contract/service-events'
import type { Db } from '../../../../db/db.ts'
import { withIndexLookups } from '../../../../db/planner-settings.ts'
import { wakeAnywhere } from '../../../../db/wake.ts'
import { withPrefix } from '../../../../lib/ids.ts'
import { endReplaysOf } from '../../replays/replays.sql.ts'
import { publish } from '../publish/publish.ts'
import { planVisits } from '../visits.sql.ts'
import { type DisabledEndpoint, markDeleted, markDisabled, markEnabled, releaseFirst } from './hold.sql.ts'
import { deleteNext, endAllSteps, planSteps } from './steps.sql.ts'
import { stepMax } from './steps.ts'

/** Enables an endpoint, resets its failure count and makes all of its deliveries due, also retries that were planned for later. */
export const enableEndpoint = (db: Db, workspaceId: string, webhookId: string, now: Date): Promise<void> =>
  withIndexLookups(db, async (tx) => {
    await markEnabled(tx, webhookId)
    await releaseAll(tx, workspaceId, webhookId, now)
  })

/** Makes due what waits for other deliveries of its conversation. Call it when the endpoint has no order any more. */
export const endOrder = (db: Db, workspaceId: string, webhookId: string, now: Date): Promise<void> =>
  withIndexLookups(db, (tx) => releaseAll(tx, workspaceId, webhookId, now))

/** Releases the first deliveries immediately, the others in steps. */
async function releaseAll(tx: Db, workspaceId: string, webhookId: string, now: Date): Promise<void> {
  const released = await releaseFirst(tx, webhookId, now, stepMax)
  if (released === stepMax) await planSteps(tx, { workspaceId, webhookId, work: 'release', askedAt: now })
  await planVisits(tx, workspaceId, [webhookId], now)
  notifyChanged(tx, workspaceId)
  wakeAnywhere(tx, 'deliveries')
}

/**
 * Disables an endpoint. Its open deliveries, and those of new events, are held until it is enabled. The other endpoints of
 * the workspace get an event, unless it was disabled before.
 */
export const disableEndpoint = (
  db: Db,
  workspaceId: string,
  webhookId: string,
  reason: string,
  now: Date,
): Promise<DisabledEndpoint | undefined> =>
  db.transaction(async (tx) => {
    const disabled = await markDisabled(tx, webhookId, reason, now)
    notifyChanged(tx, workspaceId)
    if (disabled?.wasEnabled) {
      const { name, url, failingSince } = disabled
      const data: WebhookDisabledData = {
        webhook_id: withPrefix('whk', webhookId),
        name,
        url,
        reason,
        failing_since: failingSince?.toISOString() ?? null,
      }
      await publish(tx, now, [{ workspaceId, type: 'webhook.disabled', data, notTo: webhookId }])
    }
    return disabled
  })

/** Deletes an endpoint and its open deliveries, the first of them immediately, and ends its replays. Its recorded attempts are kept. */
export const deleteEndpoint = (db: Db, workspaceId: string, webhookId: string, now: Date): Promise<void> =>
  withIndexLookups(db, async (tx) => {
    await markDeleted(tx, webhookId, now)
    // First, because a step that is in progress may wait for what this transaction deletes.
    await endAllSteps(tx, webhookId)
    await endReplaysOf(tx, webhookId, now)
    await deleteNext(tx, { webhookId, position: null }, stepMax)
    await planSteps(tx, { workspaceId, webhookId, work: 'delete', askedAt: now })
    notifyChanged(tx, workspaceId)
  })

function notifyChanged(db: Db, workspaceId: string): void {
  db.notify(workspaceId, 'webhooks')
  db.notify(workspaceId, 'deliveries')
}
