import { type AddressRange, covers, readRange } from '../../net/addresses.ts'
import type { Key } from './keys.ts'

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
