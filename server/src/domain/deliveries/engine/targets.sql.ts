import type { Db } from '../../../db/db.ts'
import type { AtRevision } from '../../../db/revisioned-cache.ts'
import type { Session } from '../../../db/session.ts'

export interface SealedTarget {
  id: string
  url: string
  secret_sealed: string
  enabled: boolean
}

/** A trigger raises the revision in every transaction that changes a target. */
export async function readRevision(session: Session): Promise<number> {
  const row = await session.queryRow('routing_revision', 'select value from routing_revision')
  return Number(row?.[0] ?? 0)
}

/** Endpoints, with the routing revision at which they were read. */
export const sealedTargets = (db: Db, ids: readonly string[]): Promise<AtRevision<SealedTarget>[]> =>
  db.rows(
    `select r.value as revision, w.id, w.url, w.secret_sealed, w.enabled
     from routing_revision r left join webhooks w on w.id = any($1::uuid[]) and w.deleted_at is null`,
    [ids],
  )
