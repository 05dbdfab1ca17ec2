import type { GraceHours } from '@parley/contract/console/keys'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { refuse } from '../../lib/refuse.ts'
import { changeKey, createKey, getKey, type Key, revokeKey } from './keys.ts'

const hourMs = 3_600_000

export interface Rotation {
  workspaceId: string
  id: string
  /** How long the old key goes on working; with 0 it is revoked at once. */
  graceHours: GraceHours
  createdBy: string
}

/**
 * A new key under the rules of an old one, for as long a life as that one was given. The old one ends after the grace, or
 * when it would have ended anyway. Call it with a transaction: both keys change or neither does.
 */
export async function rotateKey(
  db: Db,
  clock: Clock,
  { workspaceId, id, graceHours, createdBy }: Rotation,
): Promise<{ key: Key; secret: string; old: Key }> {
  const before = await getKey(db, workspaceId, id)
  if (before.revokedAt) {
    refuse('conflict', { message: 'This key was revoked. Create a new key instead of rotating it.' })
  }
  const now = clock.now()
  const { name, scopes, budget, allowedRanges } = before
  const lifeMs = before.expiresAt && before.expiresAt.getTime() - before.createdAt.getTime()
  const expiresAt = lifeMs === null ? null : new Date(now.getTime() + lifeMs)
  const old = await endKey(db, clock, before, graceHours)
  const made = await createKey(db, clock, { workspaceId, name, scopes, budget, allowedRanges, expiresAt, createdBy })
  return { ...made, old }
}

async function endKey(db: Db, clock: Clock, key: Key, graceHours: GraceHours): Promise<Key> {
  if (graceHours === 0) return revokeKey(db, clock, key.id, key.workspaceId)
  const end = new Date(clock.now().getTime() + graceHours * hourMs)
  if (key.expiresAt && key.expiresAt <= end) return key
  return changeKey(db, clock, key.id, { expiresAt: end }, key.workspaceId)
}
