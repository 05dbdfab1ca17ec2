import type { Scope } from '@parley/contract/scopes'
import { aboutToExpireSql } from '../../db/about-to-expire.ts'
import type { Db } from '../../db/db.ts'
import { orElse } from '../../db/or-else.ts'
import { insertion, statement } from '../../db/statement.ts'
import type { KeyUse } from '../../http/access-check.ts'

export interface Key {
  id: string
  workspaceId: string
  name: string
  hint: string
  scopes: Scope[]
  rateLimitPerMin: number
  allowedRanges: string[]
  expiresAt: Date | null
  revokedAt: Date | null
  createdBy: string
  createdAt: Date
  lastUsedAt: Date | null
  lastUsedAddress: string | null
  /** The calling system: the ID of the first key, shared by all keys that were rotated from it. */
  systemId: string
}

export const insertKey = insertion('api_keys', {
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
  scopes: 'text[]',
  allowedRanges: 'text[]',
})

const selection = `select k.id, k.workspace_id as "workspaceId", k.name, k.hint, k.scopes, k.budget as "rateLimitPerMin",
    k.allowed_ranges as "allowedRanges", k.expires_at as "expiresAt", k.revoked_at as "revokedAt",
    k.created_by as "createdBy", k.created_at as "createdAt", u.last_used_at as "lastUsedAt",
    host(u.last_used_address) as "lastUsedAddress", coalesce(k.system_id, k.id) as "systemId"
  from api_keys k left join key_usage u on u.key_id = k.id`
const newestFirst = 'order by k.created_at desc, k.id desc'

export const keysOf = (db: Db, workspaceId: string): Promise<Key[]> =>
  db.rows(`${selection} where k.workspace_id = $1 ${newestFirst}`, [workspaceId])

export const allKeys = (db: Db): Promise<Key[]> => db.rows(`${selection} ${newestFirst}`)

export const keyById = (db: Db, id: string, lock: '' | 'for update of k'): Promise<Key | undefined> =>
  db.first(`${selection} where k.id = $1 ${lock}`, [id])

export const countKeys = (db: Db): Promise<{ workspaceId: string; count: number }[]> =>
  db.rows('select workspace_id as "workspaceId", count(*) from api_keys where revoked_at is null group by 1')

/**
 * Keys that are about to expire, of one workspace or of all (null). Not rotated keys: a newer key of the same system works
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

export type KeyRules = Pick<Key, 'name' | 'scopes' | 'rateLimitPerMin' | 'allowedRanges' | 'expiresAt'>

export const setKeyRules = (db: Db, id: string, rules: KeyRules): Promise<number> =>
  db.change(
    'update api_keys set name = $2, scopes = $3, budget = $4, allowed_ranges = $5, expires_at = $6 where id = $1',
    [id, rules.name, rules.scopes, rules.rateLimitPerMin, rules.allowedRanges, rules.expiresAt],
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
  /** Null if the requests succeeded. */
  code: string | null
  count: number
}

/**
 * Requests by key, day and error code since a midnight UTC, from the hourly counts. Not those with an invalid key: they only
 * resemble one.
 */
export const requestsByDay = (db: Db, workspaceId: string, since: Date) =>
  db.rows<DayCount>(
    `select key_id as "keyId", date_trunc('day', hour, 'UTC') as day, code, sum(count)::bigint as count
     from traffic_hours where workspace_id = $1 and hour >= $2 and key_id is not null
       and code is distinct from 'invalid_key' group by 1, 2, 3`,
    [workspaceId, since],
  )
