import type { Webhook } from '@parley/contract/webhook'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { textFaults } from '../../lib/field-errors.ts'
import { refuseIfAny } from '../../lib/refuse.ts'
import { requireWebhook, setDeleted, setDisabled, setEnabled } from '../webhooks/webhooks.ts'
import { wakeCourier } from './couriers.ts'
import { dropDeliveries, freeDeliveries, holdDeliveries } from './holding.sql.ts'

/** Makes what was held for the endpoint due, and lets new events through. */
export async function enableWebhook(db: Db, clock: Clock, id: string, within?: string): Promise<Webhook> {
  const { uuid, workspaceId } = await requireWebhook(db, id, within)
  return db.transaction(async (tx) => {
    const webhook = await setEnabled(tx, uuid)
    await freeDeliveries(tx, uuid, clock.now())
    tellOf(tx, workspaceId)
    wakeCourier(tx, workspaceId)
    return webhook
  })
}

/** Holds what is open for the endpoint, and what is yet to come, until it is enabled. Nothing is dropped. */
export async function disableWebhook(db: Db, id: string, reason: string, within?: string): Promise<Webhook> {
  const { uuid, workspaceId } = await requireWebhook(db, id, within)
  const words = reason.trim()
  refuseIfAny(textFaults('reason', words, 500))
  const webhook = await holdEndpoint(db, uuid, words)
  tellOf(db, workspaceId)
  return webhook
}

export const holdEndpoint = (db: Db, uuid: string, reason: string): Promise<Webhook> =>
  db.transaction(async (tx) => {
    const webhook = await setDisabled(tx, uuid, reason)
    await holdDeliveries(tx, uuid)
    return webhook
  })

/** The endpoint gets nothing more. What it was sent stays on record. */
export async function deleteWebhook(db: Db, clock: Clock, id: string, within?: string): Promise<void> {
  const { uuid, workspaceId } = await requireWebhook(db, id, within)
  await db.transaction(async (tx) => {
    await setDeleted(tx, uuid, clock.now())
    await dropDeliveries(tx, uuid)
    tellOf(tx, workspaceId)
  })
}

function tellOf(db: Db, workspaceId: string): void {
  db.tell(workspaceId, 'webhooks')
  db.tell(workspaceId, 'deliveries')
}
