import type { Db } from '../../db/db.ts'
import { RevisionedCache, readAt } from '../../db/revisioned-cache.ts'
import type { AccessRequest, Caller } from '../../http/access-check.ts'
import { Refusal } from '../../lib/refuse.ts'
import { type AddressRange, isWithin, readRange } from '../../net/addresses.ts'
import { type AccessRow, accessOf } from './access.sql.ts'

/** What a key allows, as cached. */
export interface Access {
  caller: Caller
  ranges: AddressRange[]
  expiresAt: Date | null
  revokedAt: Date | null
  suspended: boolean
}

/**
 * Keys by digest. Every change to a key or a workspace increments the access revision in the same transaction. The rate
 * limiter reads that revision for every request.
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
    systemId: row.system_id,
    systemKeyIds: [row.system_id, ...row.rotated_keys],
    scopes: row.scopes,
    rateLimitPerMin: row.budget,
    isInspected: row.inspects_requests,
  },
  ranges: row.allowed_ranges.map(readRange).filter((range): range is AddressRange => !('fault' in range)),
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
  suspended: row.suspended_at !== null,
})

/** The checks before the rate limit, in the order that the API contract gives. */
export function refusalOf(request: AccessRequest, access: Access | null, now: Date): Refusal | null {
  if (request.isPublic) return null
  if (!access) return unknownKey(request.authorization)
  const { caller, revokedAt, expiresAt } = access
  if (revokedAt) return unusableKey('key_revoked', caller, 'revoked_at', revokedAt)
  if (expiresAt && expiresAt <= now) return unusableKey('key_expired', caller, 'expired_at', expiresAt)
  if (access.suspended) return new Refusal('workspace_suspended')
  if (access.ranges.length > 0 && !isWithin(request.address, access.ranges)) {
    return new Refusal('ip_not_allowed', { details: { ip: request.address } })
  }
  return null
}

function unknownKey(authorization: string | undefined): Refusal {
  const parts = authorization === undefined ? { message: 'The Authorization header is missing.' } : {}
  return new Refusal('invalid_key', { ...parts, headers: { 'WWW-Authenticate': 'Bearer' } })
}

function unusableKey(code: 'key_revoked' | 'key_expired', caller: Caller, field: string, at: Date): Refusal {
  return new Refusal(code, {
    details: { key_id: caller.keyId, [field]: at.toISOString() },
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  })
}
