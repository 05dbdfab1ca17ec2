import type { DeliveryState } from '@parley/contract/console/deliveries'
import type { Db } from '../../../db/db.ts'
import { withPrefix } from '../../../lib/ids.ts'
import { type IsoTimes, isoTimes } from '../../../lib/iso-times.ts'
import { requireEndpoint } from '../endpoint.ts'
import { type DeliveryRow, newestDeliveries } from './newest.sql.ts'

export type Delivery = IsoTimes<DeliveryRow>

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
  return rows.map((row) => ({ ...isoTimes(row), webhook_id: withPrefix('whk', row.webhook_id) }))
}
