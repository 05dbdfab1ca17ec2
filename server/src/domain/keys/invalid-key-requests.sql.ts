import type { Db } from '../../db/db.ts'

export const keysWithHints = (
  db: Db,
  hints: readonly string[],
): Promise<{ hint: string; keyId: string; workspaceId: string }[]> =>
  db.rows(
    'select hint, id as "keyId", workspace_id as "workspaceId" from api_keys where hint = any($1::text[]) order by id',
    [hints],
  )

/** For each IP address, the workspaces whose keys were last used from it since then, the latest first. */
export const workspacesAt = (
  db: Db,
  addresses: readonly string[],
  since: Date,
  max: number,
): Promise<{ address: string; workspaceId: string }[]> =>
  db.rows(
    `select a.address, used."workspaceId" from unnest($1::text[]) as a(address) cross join lateral (
       select workspace_id as "workspaceId" from key_usage
       where last_used_address = a.address::inet and last_used_at >= $2
       group by 1 order by max(last_used_at) desc, 1 limit $3) as used`,
    [addresses, since, max],
  )
