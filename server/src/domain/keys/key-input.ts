import type { KeyChange } from '@parley/contract/console/keys'
import type { Key, KeyInput } from './keys.ts'

type KeyInputFields = Partial<Omit<KeyInput, 'workspaceId' | 'createdBy'>>

/** Maps the console's field names to ours. Fields that are not given are left out. */
export function readKeyInput(body: KeyChange): KeyInputFields {
  const input: KeyInputFields = {}
  if (body.name !== undefined) input.name = body.name
  if (body.scopes !== undefined) input.scopes = body.scopes
  if (body.rate_limit_per_min !== undefined) input.rateLimitPerMin = body.rate_limit_per_min
  if (body.ip_allow_list !== undefined) input.allowedRanges = body.ip_allow_list
  if (body.expires_at !== undefined) input.expiresAt = body.expires_at === null ? null : new Date(body.expires_at)
  return input
}

/** A key's settings, for the audit log. */
export const rulesOf = (key: Key): Record<string, unknown> => ({
  name: key.name,
  scopes: key.scopes,
  rate_limit_per_min: key.rateLimitPerMin,
  ip_allow_list: key.allowedRanges,
  expires_at: key.expiresAt?.toISOString() ?? null,
})
