import type { Db } from '../../db/db.ts'
import { RevisionedCache, readAt } from '../../db/revisioned-cache.ts'
import type { AccessRequest, Caller } from '../../lib/access-check.ts'
import { type AddressRange, isWithin, readRange } from '../../lib/addresses.ts'
import { Refusal } from '../../lib/refuse.ts'
import { type AccessRow, accessOf } from './access.sql.ts'

/** What a key may do. */
export interface Access {
  caller: Caller
  ranges: AddressRange[]
  expiresAt: Date | null
  revokedAt: Date | null
  suspended: boolean
}

/**
 * Keys by digest. Every change to a key or a workspace raises the access revision in the same transaction. The rate limiter
 * reads that revision for every request.
 */
export const newAccessCache = (db: Db): RevisionedCache<Access> =>
  new RevisionedCache(async (digests) => {
    const rows = await accessOf(db, digests)
    return readAt(rows, 'digest', (row) => [row.digest.toString('latin1'), toAccess(row)])
  }, 20_000)

const toAccess = (row: AccessRow): Access => ({
  caller: {
    workspaceId: row.workspace_id,
    keyId: row.key_id,
    keyName: row.key_name,
    scopes: row.scopes,
    budget: row.budget,
  },
  ranges: row.allowed_ranges.map(readRange).filter((range): range is AddressRange => !('fault' in range)),
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
  suspended: row.suspended_at !== null,
})

/** The checks before the rate limit, in the order of the contract. */
export function refusalOf(visitor: AccessRequest, access: Access | null, now: Date): Refusal | null {
  if (visitor.isPublic) return null
  if (!access) return unknownKey(visitor.authorization)
  const { caller, revokedAt, expiresAt } = access
  if (revokedAt) return deadKey('key_revoked', caller, 'revoked_at', revokedAt)
  if (expiresAt && expiresAt <= now) return deadKey('key_expired', caller, 'expired_at', expiresAt)
  if (access.suspended) return new Refusal('workspace_suspended')
  if (access.ranges.length > 0 && !isWithin(visitor.address, access.ranges)) {
    return new Refusal('ip_not_allowed', { details: { ip: visitor.address } })
  }
  return null
}

function unknownKey(authorization: string | undefined): Refusal {
  const parts = authorization === undefined ? { message: 'The Authorization header is missing.' } : {}
  return new Refusal('invalid_key', { ...parts, headers: { 'WWW-Authenticate': 'Bearer' } })
}

function deadKey(code: 'key_revoked' | 'key_expired', caller: Caller, since: string, at: Date): Refusal {
  return new Refusal(code, {
    details: { key_id: caller.keyId, [since]: at.toISOString() },
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  })
}
