import { type BatchId, batchId, newBatchSql } from '../../db/batch-writer.ts'
import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'

export interface TrafficRow {
  hour: Date
  workspaceId: string | null
  keyId: string | null
  count: number
}

const counting = statement(
  { ...batchId, traffic: { hour: 'timestamptz', workspaceId: 'uuid', keyId: 'uuid', count: 'int' } },
  ({ traffic, ...id }) => `with new_batch as (${newBatchSql(id)}
     )
     insert into traffic_hours as h (hour, workspace_id, key_id, code, count)
     select hour, workspace_id, key_id, null, count from new_batch, ${traffic}
     order by workspace_id, hour, key_id
     on conflict (workspace_id, hour, key_id, code) do update set count = h.count + excluded.count`,
)

/** Adds counts of successful requests, once per batch. Rows are in order, so that two processes cannot deadlock. */
export const addTraffic = (db: Db, id: BatchId, traffic: readonly TrafficRow[]): Promise<number> =>
  counting.change(db, { ...id, traffic })
