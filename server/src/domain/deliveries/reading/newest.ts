import type { DeliveryState } from '@parley/contract/console/deliveries'
import type { Db } from '../../../db/db.ts'
import { withPrefix } from '../../../lib/ids.ts'
import { requireEndpoint } from '../endpoint.ts'
import { newestDeliveries } from './newest.sql.ts'

export interface Delivery {
  event_id: string
  webhook_id: string
  account_id: string
  event: string | null
  state: DeliveryState
  /** All attempts, also those before a manual retry, as in the console. */
  attempts: number
  last_attempt_at: string | null
  last_status: number | null
  last_error: string | null
  next_attempt_at: string | null
  held_since: string | null
  created_at: string
}

/** The newest deliveries of one endpoint or of all. */
export async function listDeliveries(
  db: Db,
  {
    webhookId,
    state,
    limit = 50,
  }: { webhookId?: string | undefined; state?: DeliveryState | undefined; limit?: number },
): Promise<Delivery[]> {
  const uuid = webhookId === undefined ? null : (await requireEndpoint(db, webhookId)).uuid
  const rows = await newestDeliveries(db, { webhookId: uuid, state: state ?? null, limit })
  return rows.map((row) => ({
    event_id: row.eventId,
    webhook_id: withPrefix('whk', row.webhookId),
    account_id: row.workspaceId,
    event: row.type,
    state: row.state,
    attempts: row.attempts,
    last_attempt_at: row.lastAt?.toISOString() ?? null,
    last_status: row.status,
    last_error: row.error,
    next_attempt_at: row.dueAt?.toISOString() ?? null,
    held_since: row.heldSince?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
  }))
}
