import type { Scope } from '@parley/contract/scopes'
import { aboutToExpireSql } from '../../db/about-to-expire.ts'
import type { Db } from '../../db/db.ts'
import { orElse } from '../../db/or-else.ts'
import { statement } from '../../db/statement.ts'
import type { KeyUse } from '../../http/access-check.ts'

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
  /** The first key of the rotations that led to this one; null if it was not created by a rotation. */
  system_id: string | null
}

const insertion = statement(
  {
    added: {
      id: 'uuid',
      workspaceId: 'uuid',
      name: 'text',
      digest: 'bytea',
      hint: 'text',
      budget: 'int',
      expiresAt: 'timestamptz',
      createdBy: 'text',
      createdAt: 'timestamptz',
      systemId: 'uuid',
    },
    scopes: 'text[]',
    ranges: 'text[]',
  },
  ({ added, scopes, ranges }) =>
    `insert into api_keys (${added.columns}, scopes, allowed_ranges) select added.*, ${scopes}, ${ranges} from ${added}`,
)

export const insertKey = (
  db: Db,
  {
    scopes,
    allowed_ranges,
    ...key
  }: Omit<KeyRow, 'revoked_at' | 'last_used_at' | 'last_used_address'> & { digest: string },
): Promise<number> => {
  const added = {
    ...key,
    workspaceId: key.workspace_id,
    digest: Buffer.from(key.digest, 'latin1'),
    expiresAt: key.expires_at,
    createdBy: key.created_by,
    createdAt: key.created_at,
    systemId: key.system_id,
  }
  return insertion.change(db, { added: [added], scopes, ranges: allowed_ranges })
}

const columns = `k.id, k.workspace_id, k.name, k.hint, k.scopes, k.budget, k.allowed_ranges, k.expires_at, k.revoked_at,
  k.created_by, k.created_at, k.system_id, u.last_used_at, host(u.last_used_address) as last_used_address`

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

export const lockedKeyById = (db: Db, id: string): Promise<KeyRow | undefined> =>
  db.first(
    `select ${columns} from api_keys k left join key_usage u on u.key_id = k.id where k.id = $1 for update of k`,
    [id],
  )

/**
 * Keys that are about to expire, of one workspace or of all (null). Not those that were rotated: a newer key of the same system works
 * at least as long.
 */
export const expiringKeys = (db: Db, workspaceId: string | null, now: Date) =>
  db.rows<{ id: string; workspaceId: string; name: string; expiresAt: Date }>(
    `select k.id, k.workspace_id as "workspaceId", k.name, k.expires_at as "expiresAt" from api_keys k
     where ($2::uuid is null or k.workspace_id = $2) and k.revoked_at is null and k.expires_at > $1
       and ${aboutToExpireSql('k.created_at', 'k.expires_at')} <= $1
       and not exists (
         select from api_keys n where n.workspace_id = k.workspace_id and n.system_id = ${orElse('k.system_id', 'k.id')}
           and n.created_at > k.created_at and n.revoked_at is null
           and (n.expires_at is null or n.expires_at >= k.expires_at))
     order by k.expires_at, k.id`,
    [now, workspaceId],
  )

/** Keeps the time of an earlier revocation. */
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

const saving = statement(
  { uses: { keyId: 'uuid', workspaceId: 'uuid', at: 'timestamptz', address: 'text' } },
  ({ uses }) =>
    `insert into key_usage as u (key_id, workspace_id, last_used_at, last_used_address)
     select uses.key_id, uses.workspace_id, uses.at, uses.address::inet
     from ${uses} join api_keys k on k.id = uses.key_id
     order by uses.key_id
     on conflict (key_id) do update
       set last_used_at = excluded.last_used_at, last_used_address = excluded.last_used_address
       where u.last_used_at < excluded.last_used_at`,
)

export const saveUses = (db: Db, uses: readonly KeyUse[]): Promise<number> =>
  saving.change(db, { uses: uses.map((use) => ({ ...use, at: new Date(use.atMs) })) })

export const keysWithHints = (db: Db, hints: readonly string[]) =>
  db.rows<{ hint: string; keyId: string; workspaceId: string }>(
    'select hint, id as "keyId", workspace_id as "workspaceId" from api_keys where hint = any($1::text[])',
    [hints],
  )

export interface DayCount {
  keyId: string
  /** Midnight UTC. */
  day: Date
  count: number
}

/** Requests by key and day since a midnight UTC, from the hourly counts, without those with an error code of `without`. */
export const requestsByDay = (db: Db, workspaceId: string, since: Date, without: readonly string[]) =>
  db.rows<DayCount>(
    `select key_id as "keyId", date_trunc('day', hour, 'UTC') as day, sum(count)::bigint as count
     from traffic_hours where workspace_id = $1 and hour >= $2 and key_id is not null
       and (code is null or code <> all($3::text[])) group by 1, 2`,
    [workspaceId, since, without],
  )
