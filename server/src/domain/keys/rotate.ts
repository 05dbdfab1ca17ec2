import { type GraceHours, graceHours } from '@parley/contract/console/keys'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { refuse } from '../../lib/refuse.ts'
import { changeKey, createKey, getKey, type Key, revokeKey } from './keys.ts'

const hourMs = 3_600_000

interface Rotation {
  workspaceId: string
  id: string
  /** How long the old key keeps working. With 0 it is revoked immediately. */
  graceHours: GraceHours
  createdBy: string
}

interface RotatedKey {
  key: Key
  secret: string
  old: Key
}

/**
 * Creates a key with the settings and the lifetime of the old one, for the same calling system: both keys read the same
 * messages and share their idempotency keys. The old key expires after the grace period, or at its own
 * expiry if that is sooner. Call it in a transaction, so that both keys change or neither does.
 */
export async function rotateKey(
  db: Db,
  clock: Clock,
  { workspaceId, id, graceHours: hours, createdBy }: Rotation,
): Promise<RotatedKey> {
  const before = await getKey(db, id, workspaceId)
  if (before.revokedAt) {
    refuse('conflict', { message: 'This key was revoked. Create a new key instead of rotating it.' })
  }
  const now = clock.now()
  const { name, scopes, rateLimitPerMin, allowedRanges, systemId } = before
  const lifetimeMs = before.expiresAt && before.expiresAt.getTime() - before.createdAt.getTime()
  const expiresAt = lifetimeMs === null ? null : new Date(now.getTime() + lifetimeMs)
  const old = await endKey(db, clock, before, hours)
  const rules = { name, scopes, rateLimitPerMin, allowedRanges, expiresAt }
  const created = await createKey(db, clock, { workspaceId, ...rules, createdBy, systemId })
  return { ...created, old }
}

const longestGraceMs = Math.max(...graceHours) * hourMs

/** Which key replaced which, by the ID of the old key: the next key of its system, if it ends as a rotation ends it. */
export function replacementsOf(keys: readonly Key[]): Map<string, Key> {
  const replacements = new Map<string, Key>()
  for (const ofSystem of Map.groupBy(keys, ({ systemId }) => systemId).values()) {
    const inOrder = ofSystem.toSorted((left, right) => left.createdAt.getTime() - right.createdAt.getTime())
    for (const [index, { id, revokedAt, expiresAt }] of inOrder.entries()) {
      const [next, end] = [inOrder[index + 1], revokedAt ?? expiresAt]
      if (next && end && end.getTime() <= next.createdAt.getTime() + longestGraceMs) replacements.set(id, next)
    }
  }
  return replacements
}

export const rotationEntry = ({ key, old }: RotatedKey) => ({
  action: 'key.rotate',
  target: old.id,
  targetName: old.name,
  after: { new_key: key.id, old_key_ends_at: (old.revokedAt ?? old.expiresAt)?.toISOString() ?? null },
})

async function endKey(db: Db, clock: Clock, key: Key, hours: GraceHours): Promise<Key> {
  if (hours === 0) return revokeKey(db, clock, key.id, key.workspaceId)
  const end = new Date(clock.now().getTime() + hours * hourMs)
  if (key.expiresAt && key.expiresAt <= end) return key
  return (await changeKey(db, clock, key.id, { expiresAt: end }, key.workspaceId)).key
}
