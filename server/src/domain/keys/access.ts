import type { Scope } from '@parley/contract/scopes'
import { type AddressRange, isWithin, readRange } from '../../lib/addresses.ts'
import type { Caller, Visitor } from '../../lib/gate.ts'
import { Refusal } from '../../lib/refuse.ts'
import { Shared } from '../../lib/shared.ts'
import type { AccessRow } from './admission.sql.ts'

/** A key as the gate knows it. */
export interface Access {
  caller: Caller
  /** What the key's budget is counted under. */
  subject: string
  ranges: AddressRange[]
  expiresAt: Date | null
  revokedAt: Date | null
  suspended: boolean
}

/** What keys have in common is held once: of thousands in use, more stays near the processor. */
export function newAccessReader(): (row: AccessRow) => Access {
  const workspaceIds = new Shared<string>()
  const scopeLists = new Shared<readonly Scope[]>()
  return (row) => ({
    caller: {
      workspaceId: workspaceIds.of(row.workspace_id, row.workspace_id),
      keyId: row.key_id,
      keyName: row.key_name,
      scopes: scopeLists.of(row.scopes.join(), row.scopes),
      budget: row.budget,
    },
    subject: `k:${row.key_id}`,
    ranges: row.allowed_ranges.map(readRange).filter((range): range is AddressRange => !('fault' in range)),
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    suspended: row.suspended_at !== null,
  })
}

/** The order of checks, up to the budget. */
export function refusalOf(visitor: Visitor, access: Access | null, now: Date): Refusal | null {
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
