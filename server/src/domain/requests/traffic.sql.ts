import { ints, times, uuids } from '../../db/array-format.ts'
import type { Db } from '../../db/db.ts'

export interface TrafficRow {
  hour: Date
  workspaceId: string | null
  keyId: string | null
  count: number
}

/** Of requests that went well. In order, so that two processes never wait for each other in a circle. */
export const addTraffic = (db: Db, rows: readonly TrafficRow[]): Promise<number> =>
  db.change(
    `insert into traffic_hours as h (hour, workspace_id, key_id, code, count)
     select hour, workspace_id, key_id, null, count
     from unnest($1::timestamptz[], $2::uuid[], $3::uuid[], $4::int[]) as n(hour, workspace_id, key_id, count)
     order by workspace_id, hour, key_id
     on conflict (workspace_id, hour, key_id, code) do update set count = h.count + excluded.count`,
    [
      times(rows.map((row) => row.hour)),
      uuids(rows.map((row) => row.workspaceId)),
      uuids(rows.map((row) => row.keyId)),
      ints(rows.map((row) => row.count)),
    ],
  )
