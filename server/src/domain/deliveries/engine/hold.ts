/** Enabling, disabling and deleting an endpoint, with what that does to its deliveries. */
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

/** Makes the held deliveries of an endpoint due. Its run of failures begins anew. */
export const enableEndpoint = (db: Db, workspaceId: string, webhookId: string, now: Date): Promise<void> =>
  db.transaction(async (tx) => {
    await markEnabled(tx, webhookId)
    await releaseDeliveries(tx, webhookId, now)
    announce(tx, workspaceId)
    wakeAnywhere(tx, 'deliveries', workspaceId)
  })

/** Holds the open deliveries of an endpoint, and those of events to come, until it is enabled. Nothing is dropped. */
export const disableEndpoint = (db: Db, workspaceId: string, webhookId: string, reason: string): Promise<void> =>
  db.transaction(async (tx) => {
    await markDisabled(tx, webhookId, reason)
    await holdDeliveries(tx, webhookId)
    announce(tx, workspaceId)
  })

/** The endpoint gets nothing more. Its recorded attempts are kept. */
export const deleteEndpoint = (db: Db, workspaceId: string, webhookId: string, now: Date): Promise<void> =>
  db.transaction(async (tx) => {
    await markDeleted(tx, webhookId, now)
    await dropDeliveries(tx, webhookId)
    announce(tx, workspaceId)
  })

function announce(db: Db, workspaceId: string): void {
  db.notify(workspaceId, 'webhooks')
  db.notify(workspaceId, 'deliveries')
}
