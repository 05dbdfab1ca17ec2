import type { Scope } from '@parley/contract/scopes'
import { texts, times, uuids } from '../../db/array-format.ts'
import type { Db } from '../../db/db.ts'

export interface KeyRow {
  id: string
  workspace_id: string
  name: string
  hint: string
  scopes: Scope[]
  budget: number
  allowed_ranges: string[]
  expires_at: Date | null
  revoked_at: Date | null
  created_by: string
  created_at: Date
  last_used_at: Date | null
  last_used_address: string | null
}

export async function insertKey(
  db: Db,
  key: Omit<KeyRow, 'revoked_at' | 'last_used_at' | 'last_used_address'> & { digest: string },
): Promise<void> {
  await db.change(
    `insert into api_keys
       (id, workspace_id, name, digest, hint, scopes, budget, allowed_ranges, expires_at, created_by, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      key.id,
      key.workspace_id,
      key.name,
      Buffer.from(key.digest, 'latin1'),
      key.hint,
      key.scopes,
      key.budget,
      key.allowed_ranges,
      key.expires_at,
      key.created_by,
      key.created_at,
    ],
  )
}

const columns = `k.id, k.workspace_id, k.name, k.hint, k.scopes, k.budget, k.allowed_ranges, k.expires_at, k.revoked_at,
  k.created_by, k.created_at, u.last_used_at, host(u.last_used_address) as last_used_address`

export const keysOf = (db: Db, workspaceId: string): Promise<KeyRow[]> =>
  db.rows(
    `select ${columns} from api_keys k left join key_usage u on u.key_id = k.id
     where k.workspace_id = $1 order by k.created_at desc, k.id desc`,
    [workspaceId],
  )

export const countKeys = (db: Db): Promise<{ workspaceId: string; count: number }[]> =>
  db.rows('select workspace_id as "workspaceId", count(*) from api_keys where revoked_at is null group by 1')

export const allKeys = (db: Db): Promise<KeyRow[]> =>
  db.rows(
    `select ${columns} from api_keys k left join key_usage u on u.key_id = k.id
     order by k.created_at desc, k.id desc`,
  )

export const keyById = (db: Db, id: string): Promise<KeyRow | undefined> =>
  db.first(`select ${columns} from api_keys k left join key_usage u on u.key_id = k.id where k.id = $1`, [id])

/** Leaves the time of an earlier revocation as it is. */
export const setRevoked = (db: Db, id: string, at: Date): Promise<number> =>
  db.change('update api_keys set revoked_at = $2 where id = $1 and revoked_at is null', [id, at])

export const setKeyRules = (
  db: Db,
  id: string,
  rules: Pick<KeyRow, 'name' | 'scopes' | 'budget' | 'allowed_ranges' | 'expires_at'>,
): Promise<number> =>
  db.change(
    'update api_keys set name = $2, scopes = $3, budget = $4, allowed_ranges = $5, expires_at = $6 where id = $1',
    [id, rules.name, rules.scopes, rules.budget, rules.allowed_ranges, rules.expires_at],
  )

export interface Use {
  keyId: string
  workspaceId: string
  atMs: number
  address: string
}

export const saveUses = (db: Db, uses: readonly Use[]): Promise<number> =>
  db.change(
    `insert into key_usage as u (key_id, workspace_id, last_used_at, last_used_address)
     select n.key_id, n.workspace_id, n.at, n.address::inet
     from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[]) as n(key_id, workspace_id, at, address)
     join api_keys k on k.id = n.key_id
     order by n.key_id
     on conflict (key_id) do update
       set last_used_at = excluded.last_used_at, last_used_address = excluded.last_used_address
       where u.last_used_at < excluded.last_used_at`,
    [
      uuids(uses.map((use) => use.keyId)),
      uuids(uses.map((use) => use.workspaceId)),
      times(uses.map((use) => new Date(use.atMs))),
      texts(uses.map((use) => use.address)),
    ],
  )
