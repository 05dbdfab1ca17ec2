import type { KeyChange } from '@parley/contract/console/keys'
import type { Key, KeyWish } from './keys.ts'

type Wish = Partial<Omit<KeyWish, 'workspaceId' | 'createdBy'>>

/** What is asked for a key in the console's words, in ours; what is not said stays out. */
export function readWish(body: KeyChange): Wish {
  const wish: Wish = {}
  if (body.name !== undefined) wish.name = body.name
  if (body.scopes !== undefined) wish.scopes = body.scopes
  if (body.rate_limit_per_min !== undefined) wish.budget = body.rate_limit_per_min
  if (body.ip_allow_list !== undefined) wish.allowedRanges = body.ip_allow_list
  if (body.expires_at !== undefined) wish.expiresAt = body.expires_at === null ? null : new Date(body.expires_at)
  return wish
}

/** A key's rules, for the record. */
export const rulesOf = (key: Key): Record<string, unknown> => ({
  name: key.name,
  scopes: key.scopes,
  rate_limit_per_min: key.budget,
  ip_allow_list: key.allowedRanges,
  expires_at: key.expiresAt?.toISOString() ?? null,
})
