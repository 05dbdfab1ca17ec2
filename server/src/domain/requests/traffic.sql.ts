import type { Db } from '../../db/db.ts'

export interface TrafficRow {
  hour: Date
  workspaceId: string | null
  keyId: string | null
  code: string | null
  count: number
}

/** In order, so that two processes never wait for each other in a circle. */
export const addTraffic = (db: Db, rows: readonly TrafficRow[]): Promise<number> =>
  db.change(
    `insert into traffic_hours as h (hour, workspace_id, key_id, code, count)
     select * from unnest($1::timestamptz[], $2::uuid[], $3::uuid[], $4::text[], $5::int[])
       as n(hour, workspace_id, key_id, code, count)
     order by workspace_id, hour, key_id, code
     on conflict (workspace_id, hour, key_id, code) do update set count = h.count + excluded.count`,
    [
      rows.map((row) => row.hour),
      rows.map((row) => row.workspaceId),
      rows.map((row) => row.keyId),
      rows.map((row) => row.code),
      rows.map((row) => row.count),
    ],
  )
