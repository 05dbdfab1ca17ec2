import type { Scope } from '@parley/contract/scopes'
import type { Db } from '../../db/db.ts'
import { byteStrings } from '../../db/format/array-format.ts'
import { orElse } from '../../db/or-else.ts'
import type { AtRevision } from '../../db/revisioned-cache.ts'

/** The columns of a key and its workspace that decide whether a request is allowed. */
export interface AccessRow {
  digest: Buffer
  key_id: string
  key_name: string
  system_id: string
  /** The keys that replaced the first key of the system. */
  rotated_keys: string[]
  workspace_id: string
  scopes: Scope[]
  budget: number
  allowed_ranges: string[]
  expires_at: Date | null
  revoked_at: Date | null
  suspended_at: Date | null
  inspects_requests: boolean
}

/** The keys with these digests (Latin-1 strings from `digestOf`), and the access revision at which they were read. */
export const accessOf = (db: Db, digests: readonly string[]): Promise<AtRevision<AccessRow>[]> =>
  db.rows(
    `select r.value as revision, k.digest, k.id as key_id, k.name as key_name, k.workspace_id,
       coalesce(k.system_id, k.id) as system_id,
       array(select s.id from api_keys s where s.system_id = ${orElse('k.system_id', 'k.id')}) as rotated_keys,
       k.scopes, k.budget, k.allowed_ranges, k.expires_at, k.revoked_at, w.suspended_at, w.inspects_requests
     from access_revision r
     left join (api_keys k join workspaces w on w.id = k.workspace_id)
       on k.digest = any($1::bytea[])`,
    [byteStrings(digests.map((digest) => Buffer.from(digest, 'latin1')))],
  )
