import type { DeliveryFilters } from '@parley/contract/console/deliveries'
import type { Db } from '../../../db/db.ts'
import { exportCsv } from '../../../lib/csv-export.ts'
import type { Cursor } from './list.sql.ts'
import { findDeliveries, toDelivery } from './list.ts'

/** Deliveries as CSV, in the order of the list. */
export const exportDeliveries = (db: Db, workspaceId: string, filters: DeliveryFilters): AsyncIterable<string> =>
  exportCsv({
    head: [
      ...['event_id', 'event_type', 'created_at', 'webhook_id', 'webhook_name', 'state', 'attempts'],
      ...['last_attempt_at', 'last_status', 'last_error', 'last_duration_ms', 'next_attempt_at'],
    ],
    read: (after: Cursor | null, limit) => findDeliveries(db, workspaceId, filters, { limit, after }),
    toLines(row) {
      const delivery = toDelivery(row)
      const { event_id, event_type, created_at, webhook_id, webhook_name, state, attempts } = delivery
      const { last_attempt_at, last_status, last_error, last_duration_ms, next_attempt_at } = delivery
      return [
        [
          ...[event_id, event_type, created_at, webhook_id, webhook_name, state, attempts],
          ...[last_attempt_at, last_status, last_error, last_duration_ms, next_attempt_at],
        ],
      ]
    },
  })
