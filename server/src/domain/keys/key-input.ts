import type { KeyChange } from '@parley/contract/console/keys'
import { type AddressRange, covers, readRange } from '../../net/addresses.ts'
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

type Limits = Pick<Key, 'scopes' | 'rateLimitPerMin' | 'allowedRanges' | 'expiresAt'>

/** Whether a change lets a key do something that it could not do before, or for longer, or from elsewhere. */
export const widens = (before: Limits, after: Limits): boolean =>
  after.scopes.some((scope) => !before.scopes.includes(scope)) ||
  after.rateLimitPerMin > before.rateLimitPerMin ||
  lastsLonger(before.expiresAt, after.expiresAt) ||
  hasNewAddresses(before.allowedRanges, after.allowedRanges)

const lastsLonger = (before: Date | null, after: Date | null): boolean =>
  before !== null && (after === null || after > before)

/** An empty allowlist allows every address. Adjacent ranges are not joined: what only they cover together is new. */
function hasNewAddresses(before: readonly string[], after: readonly string[]): boolean {
  if (before.length === 0) return false
  if (after.length === 0) return true
  const allowed = rangesOf(before)
  return rangesOf(after).some((range) => !allowed.some((each) => covers(each, range)))
}

const rangesOf = (texts: readonly string[]): AddressRange[] =>
  texts.map(readRange).filter((range): range is AddressRange => !('fault' in range))
