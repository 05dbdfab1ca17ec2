import type { DeliveryState } from '@parley/contract/console/deliveries'
import type { Db } from '../../../db/db.ts'
import { withPrefix } from '../../../lib/ids.ts'
import { requireEndpoint } from '../endpoint.ts'
import { type DeliveryRow, newestDeliveries } from './newest.sql.ts'

type Time = 'last_attempt_at' | 'next_attempt_at' | 'held_since'

/** With times as text. */
export type Delivery = Omit<DeliveryRow, Time | 'created_at'> & Record<Time, string | null> & { created_at: string }

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
    ...row,
    webhook_id: withPrefix('whk', row.webhook_id),
    last_attempt_at: row.last_attempt_at?.toISOString() ?? null,
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
    held_since: row.held_since?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  }))
}
