import type { Db } from '../../db/db.ts'

export interface CountedRow {
  /** A key ID or an IP address; null if it is unknown. */
  who: string | null
  count: number
  last_at: Date
}

/** The 50 keys or IP addresses with the most errors of one code, since an hour. */
export const busiestGroups = (
  db: Db,
  workspaceId: string,
  code: string,
  since: Date,
  by: 'key_id' | 'address',
): Promise<CountedRow[]> =>
  db.rows(
    `select ${by}::text as who, sum(count)::bigint as count, max(last_at) as last_at from refusal_hours
     where workspace_id = $1 and code = $2 and hour >= $3
     group by 1 order by 2 desc, 1 limit 50`,
    [workspaceId, code, since],
  )

export interface MutedRow {
  code: string
  muted_by: string
  muted_at: Date
}

export const mutedOf = (db: Db, workspaceId: string): Promise<MutedRow[]> =>
  db.rows('select code, muted_by, muted_at from muted_refusals where workspace_id = $1', [workspaceId])

/** Does nothing if it is muted already. */
export const insertMuted = (db: Db, workspaceId: string, { code, muted_by, muted_at }: MutedRow): Promise<number> =>
  db.change(
    `insert into muted_refusals (workspace_id, code, muted_by, muted_at) values ($1, $2, $3, $4) on conflict do nothing`,
    [workspaceId, code, muted_by, muted_at],
  )

export const deleteMuted = (db: Db, workspaceId: string, code: string): Promise<number> =>
  db.change('delete from muted_refusals where workspace_id = $1 and code = $2', [workspaceId, code])
