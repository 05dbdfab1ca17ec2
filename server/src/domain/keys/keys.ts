import type { FieldError, FieldErrorCode } from '@parley/contract/field-errors'
import { rateLimitRange } from '@parley/contract/key'
import { isScope, scopes as knownScopes } from '@parley/contract/scopes'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { isUuid, newUuid } from '../../lib/ids.ts'
import { refuse, refuseIfAny, refuseParam } from '../../lib/refuse.ts'
import { textErrors } from '../../lib/text-errors.ts'
import { readRange } from '../../net/addresses.ts'
import { requireWorkspace } from '../workspaces/workspaces.ts'
import { allKeys, insertKey, type Key, type KeyRules, keyById, keysOf, setKeyRules, setRevoked } from './keys.sql.ts'
import { digestOf, hintOf, newSecret } from './secret.ts'

export { countKeys, expiringKeys, type Key } from './keys.sql.ts'

export interface KeyInput {
  workspaceId: string
  name: string
  scopes: readonly string[]
  rateLimitPerMin?: number | undefined
  allowedRanges?: readonly string[] | undefined
  expiresAt?: Date | null | undefined
  createdBy: string
  /** The system of the key that this one replaces. */
  systemId?: string
}

/** Creates a key. Only the digest of the secret is stored, so this is the only time the secret is returned. */
export async function createKey(db: Db, clock: Clock, input: KeyInput): Promise<{ key: Key; secret: string }> {
  const rules = checkRules(input, clock.now())
  await requireWorkspace(db, input.workspaceId)
  const secret = newSecret()
  const { workspaceId, createdBy, systemId } = input
  const now = clock.now()
  const key = { id: newUuid(now.getTime()), workspaceId, hint: hintOf(secret), createdBy, createdAt: now, ...rules }
  const digest = Buffer.from(digestOf(secret), 'latin1')
  await insertKey(db, { ...key, digest, budget: key.rateLimitPerMin, systemId: systemId ?? null })
  db.notify(workspaceId, 'keys')
  const unused = { revokedAt: null, lastUsedAt: null, lastUsedAddress: null }
  return { key: { ...key, ...unused, systemId: systemId ?? key.id }, secret }
}

/** Newest first; of one workspace or, for operators, of all workspaces. */
export const listKeys = (db: Db, workspaceId?: string): Promise<Key[]> =>
  workspaceId ? keysOf(db, workspaceId) : allKeys(db)

/** Takes effect on the next request in every process. Revoking a second time keeps the time of the first. */
export async function revokeKey(db: Db, clock: Clock, id: string, workspaceId?: string): Promise<Key> {
  const key = await getKey(db, id, workspaceId)
  await setRevoked(db, key.id, clock.now())
  db.notify(key.workspaceId, 'keys')
  return { ...key, revokedAt: key.revokedAt ?? clock.now() }
}

export type KeyChanges = Partial<Omit<KeyInput, 'workspaceId' | 'createdBy' | 'systemId'>>

/**
 * Returns the key before and after. Call it in a transaction, in which the key is locked: what `before` says is then what
 * was replaced.
 */
export async function changeKey(
  db: Db,
  clock: Clock,
  id: string,
  change: KeyChanges,
  workspaceId?: string,
): Promise<{ before: Key; key: Key }> {
  const before = await getKey(db, id, workspaceId, 'for update of k')
  const keepsExpiry = change.expiresAt === undefined || change.expiresAt?.getTime() === before.expiresAt?.getTime()
  if (!keepsExpiry) refuseRevival(before, clock.now())
  const rules = checkRules({ ...before, ...change, expiresAt: keepsExpiry ? null : change.expiresAt }, clock.now())
  const changed = { ...rules, expiresAt: keepsExpiry ? before.expiresAt : rules.expiresAt }
  await setKeyRules(db, before.id, changed)
  db.notify(before.workspaceId, 'keys')
  return { before, key: { ...before, ...changed } }
}

/** A key that has ended stays ended: a person who has a copy of it must not get access again. */
function refuseRevival({ expiresAt, revokedAt }: Key, now: Date): void {
  const hasExpired = expiresAt !== null && expiresAt <= now
  if (!revokedAt && !hasExpired) return
  const ended = revokedAt ? 'was revoked' : 'has expired'
  refuseParam('expires_at', 'invalid', `This key ${ended}, so its expiry cannot be changed. Create a new key.`)
}

/** Warnings about settings that are valid but may be a mistake. */
export const warningsOf = ({ allowedRanges }: Pick<Key, 'allowedRanges'>): string[] =>
  allowedRanges
    .filter((range) => range.endsWith('/0'))
    .map((range) => {
      const [all, other] = isIpv6(range) ? ['IPv6', 'IPv4'] : ['IPv4', 'IPv6']
      const hasOther = allowedRanges.some((each) => isIpv6(each) !== isIpv6(range))
      return `The IP allowlist contains ${range}, which is every ${all} address${hasOther ? '' : `, but no ${other} address`}.`
    })

const isIpv6 = (range: string): boolean => range.includes(':')

/** If a workspace is given, a key of another workspace is not found. */
export async function getKey(
  db: Db,
  id: string,
  workspaceId?: string,
  lock: '' | 'for update of k' = '',
): Promise<Key> {
  const row = isUuid(id) ? await keyById(db, id, lock) : undefined
  if (row && (workspaceId === undefined || row.workspaceId === workspaceId)) return row
  return refuse('not_found', { message: `No API key has the ID ${id}.` })
}

function checkRules(
  input: Pick<KeyInput, 'name' | 'scopes' | 'rateLimitPerMin' | 'allowedRanges' | 'expiresAt'>,
  now: Date,
): KeyRules {
  const errors: FieldError[] = []
  const addError = (param: string, code: FieldErrorCode, message: string) => errors.push({ param, code, message })
  const name = input.name.trim()
  const rateLimitPerMin = input.rateLimitPerMin ?? rateLimitRange.default
  const { minimum, maximum } = rateLimitRange
  const expiresAt = input.expiresAt ?? null

  errors.push(...textErrors('name', name, 100))
  for (const scope of input.scopes) {
    if (!isScope(scope))
      addError('scopes', 'invalid', `"${scope}" is not a scope. Use one of ${knownScopes.join(', ')}.`)
  }
  if (!Number.isInteger(rateLimitPerMin) || rateLimitPerMin < minimum || rateLimitPerMin > maximum) {
    const message = `The rate limit must be a whole number from ${minimum} to ${maximum} requests per minute.`
    addError('rate_limit_per_min', 'out_of_range', message)
  }
  if (expiresAt && !(expiresAt.getTime() > now.getTime())) {
    addError('expires_at', 'out_of_range', 'The expiry must be in the future.')
  }
  const ranges = (input.allowedRanges ?? []).flatMap((text) => {
    const range = readRange(text.trim())
    if (!('fault' in range)) return [range.text]
    addError('ip_allow_list', 'invalid', `"${text}" is not an IP address or CIDR range: ${range.fault}.`)
    return []
  })
  if (ranges.length > 100) addError('ip_allow_list', 'too_many', 'The IP allowlist can have at most 100 entries.')
  refuseIfAny(errors)
  const scopes = knownScopes.filter((scope) => input.scopes.includes(scope))
  return { name, scopes, rateLimitPerMin, allowedRanges: [...new Set(ranges)], expiresAt }
}
