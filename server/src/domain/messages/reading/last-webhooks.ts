/** When the network's webhooks last brought something. */
import type { Db } from '../../../db/db.ts'
import { lastInbound, lastStatus, newestStatuses, type StatusCounts } from './last-webhooks.sql.ts'

export type { StatusCounts }

/** When the latest inbound message of any of these senders arrived. */
export const lastInboundAt = async (db: Db, senderIds: readonly string[]): Promise<Date | null> =>
  (await lastInbound(db, senderIds))?.at ?? null

/** When the latest inbound message or status of any of these senders arrived. */
export async function lastWebhookAt(db: Db, senders: readonly { id: string; workspaceId: string }[]) {
  const ids = senders.map(({ id }) => id)
  const inbound = await lastInboundAt(db, ids)
  const status = (await lastStatus(db, senders))?.at ?? null
  return inbound === null || (status !== null && status > inbound) ? status : inbound
}

/** A status arrives within seconds, unless webhooks do not arrive. */
export const statusLateMs = 5 * 60_000

export const countStatuses = async (db: Db, workspaceId: string, senderId: string, now: Date): Promise<StatusCounts> =>
  (await newestStatuses(db, workspaceId, senderId, new Date(now.getTime() - statusLateMs))) ?? {
    accepted: 0,
    withoutStatus: 0,
    lastStatusAt: null,
  }
