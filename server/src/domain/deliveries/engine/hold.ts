/** Enabling, disabling and deleting endpoints, and the effect on their deliveries. */
import type { Db } from '../../../db/db.ts'
import { wakeAnywhere } from '../../../db/wake.ts'
import {
  dropDeliveries,
  holdDeliveries,
  markDeleted,
  markDisabled,
  markEnabled,
  releaseDeliveries,
} from './hold.sql.ts'
import { planVisits } from './visits.sql.ts'

/** Enables an endpoint, makes its held deliveries due and resets its failure count. */
export const enableEndpoint = (db: Db, workspaceId: string, webhookId: string, now: Date): Promise<void> =>
  db.transaction(async (tx) => {
    await markEnabled(tx, webhookId)
    await releaseDeliveries(tx, webhookId, now)
    await planVisits(tx, workspaceId, [webhookId], now)
    notifyChanged(tx, workspaceId)
    wakeAnywhere(tx, 'deliveries', workspaceId)
  })

/** Disables an endpoint. Its open deliveries, and those of new events, are held until it is enabled. */
export const disableEndpoint = (
  db: Db,
  workspaceId: string,
  webhookId: string,
  reason: string,
): Promise<{ name: string; wasEnabled: boolean } | undefined> =>
  db.transaction(async (tx) => {
    const disabled = await markDisabled(tx, webhookId, reason)
    await holdDeliveries(tx, webhookId)
    notifyChanged(tx, workspaceId)
    return disabled
  })

/** Deletes an endpoint and its open deliveries. Its recorded attempts are kept. */
export const deleteEndpoint = (db: Db, workspaceId: string, webhookId: string, now: Date): Promise<void> =>
  db.transaction(async (tx) => {
    await markDeleted(tx, webhookId, now)
    await dropDeliveries(tx, webhookId)
    notifyChanged(tx, workspaceId)
  })

function notifyChanged(db: Db, workspaceId: string): void {
  db.notify(workspaceId, 'webhooks')
  db.notify(workspaceId, 'deliveries')
}
