import type { FieldError, FieldErrorCode } from '@parley/contract/field-errors'
import { rateLimitRange } from '@parley/contract/key'
import { isScope, scopes as knownScopes, type Scope } from '@parley/contract/scopes'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { isUuid, newUuid } from '../../lib/ids.ts'
import { refuse, refuseIfAny, refuseParam } from '../../lib/refuse.ts'
import { textErrors } from '../../lib/text-errors.ts'
import { readRange } from '../../net/addresses.ts'
import { requireWorkspace } from '../workspaces/workspaces.ts'
import { allKeys, insertKey, type KeyRow, keyById, keysOf, lockedKeyById, setKeyRules, setRevoked } from './keys.sql.ts'
import { digestOf, hintOf, newSecret } from './secret.ts'

export { countKeys, expiringKeys } from './keys.sql.ts'

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
  const row = {
    id: newUuid(clock.now().getTime()),
    workspace_id: input.workspaceId,
    hint: hintOf(secret),
    created_by: input.createdBy,
    created_at: clock.now(),
    system_id: input.systemId ?? null,
    ...rules,
  }
  await insertKey(db, { ...row, digest: digestOf(secret) })
  db.notify(input.workspaceId, 'keys')
  return { key: toKey({ ...row, revoked_at: null, last_used_at: null, last_used_address: null }), secret }
}

/** Newest first; of one workspace or, for operators, of all workspaces. */
export async function listKeys(db: Db, workspaceId?: string): Promise<Key[]> {
  return (workspaceId ? await keysOf(db, workspaceId) : await allKeys(db)).map(toKey)
}

export const getKey = async (db: Db, workspaceId: string, id: string): Promise<Key> =>
  toKey(await requireKey(db, id, workspaceId))

/** A key of any workspace, for operators. */
export const findAnyKey = async (db: Db, id: string): Promise<Key> => toKey(await requireKey(db, id))

/** Takes effect on the next request in every process. Revoking a second time keeps the time of the first. */
export async function revokeKey(db: Db, clock: Clock, id: string, workspaceId?: string): Promise<Key> {
  const key = await requireKey(db, id, workspaceId)
  await setRevoked(db, key.id, clock.now())
  db.notify(key.workspace_id, 'keys')
  return toKey({ ...key, revoked_at: key.revoked_at ?? clock.now() })
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
  const row = await requireKey(db, id, workspaceId, lockedKeyById)
  const keepsExpiry = change.expiresAt === undefined || change.expiresAt?.getTime() === row.expires_at?.getTime()
  if (!keepsExpiry) refuseRevival(row, clock.now())
  const input = {
    ...row,
    rateLimitPerMin: row.budget,
    allowedRanges: row.allowed_ranges,
    ...change,
    expiresAt: keepsExpiry ? null : change.expiresAt,
  }
  const rules = checkRules(input, clock.now())
  const changed = { ...rules, expires_at: keepsExpiry ? row.expires_at : rules.expires_at }
  await setKeyRules(db, row.id, changed)
  db.notify(row.workspace_id, 'keys')
  return { before: toKey(row), key: toKey({ ...row, ...changed }) }
}

/** A key that has ended stays ended: a person who has a copy of it must not get access again. */
function refuseRevival({ expires_at, revoked_at }: KeyRow, now: Date): void {
  const hasExpired = expires_at !== null && expires_at <= now
  if (!revoked_at && !hasExpired) return
  const ended = revoked_at ? 'was revoked' : 'has expired'
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
async function requireKey(db: Db, id: string, workspaceId?: string, read = keyById): Promise<KeyRow> {
  const row = isUuid(id) ? await read(db, id) : undefined
  if (row && (workspaceId === undefined || row.workspace_id === workspaceId)) return row
  return refuse('not_found', { message: `No API key has the ID ${id}.` })
}

type Rules = Pick<KeyRow, 'name' | 'scopes' | 'budget' | 'allowed_ranges' | 'expires_at'>

function checkRules(
  input: Pick<KeyInput, 'name' | 'scopes' | 'rateLimitPerMin' | 'allowedRanges' | 'expiresAt'>,
  now: Date,
): Rules {
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
  return { name, scopes, budget: rateLimitPerMin, allowed_ranges: [...new Set(ranges)], expires_at: expiresAt }
}

function toKey(row: KeyRow): Key {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    hint: row.hint,
    scopes: row.scopes,
    rateLimitPerMin: row.budget,
    allowedRanges: row.allowed_ranges,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    createdBy: row.created_by,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    lastUsedAddress: row.last_used_address,
    systemId: row.system_id ?? row.id,
  }
}
