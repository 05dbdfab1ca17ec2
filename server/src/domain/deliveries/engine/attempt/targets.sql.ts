import type { Session } from '../../../../db/connect/session.ts'
import type { Db } from '../../../../db/db.ts'
import type { AtRevision } from '../../../../db/revisioned-cache.ts'

export interface SealedTarget {
  id: string
  url: string
  /** During a staged rotation two, the current one last: receivers that read only one signature often read the last. */
  secrets_sealed: string[]
  headers_sealed: string | null
  secret_changed_at: Date | null
  enabled: boolean
  is_paced: boolean
}

/** A trigger raises the revision in every transaction that changes a target. `databaseMs` is the time of the database. */
export async function readRevision(session: Session): Promise<{ revision: number; databaseMs: number }> {
  const [row] = await session.rows<{ revision: number; databaseMs: number }>(
    `select value as revision, trunc(extract(epoch from clock_timestamp()) * 1000)::float8 as "databaseMs"
     from routing_revision`,
  )
  return row ?? { revision: 0, databaseMs: 0 }
}

/** Endpoints, with the routing revision at which they were read. */
export const sealedTargets = (db: Db, ids: readonly string[]): Promise<AtRevision<SealedTarget>[]> =>
  db.rows(
    `select r.value as revision, w.id, w.url, array_remove(array[w.staged_secret_sealed, w.secret_sealed], null) as secrets_sealed,
       w.headers_sealed, w.secret_changed_at, w.enabled, w.next_attempt_at is not null as is_paced
     from routing_revision r left join webhooks w on w.id = any($1::uuid[]) and w.deleted_at is null`,
    [ids],
  )
