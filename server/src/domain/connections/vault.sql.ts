import type { Db } from '../../db/db.ts'
import type { AtRevision } from '../../db/revisioned-cache.ts'

/** With the routing revision they were read at. */
export const sealedApps = (db: Db, ids: readonly string[]) =>
  db.rows<AtRevision<{ id: string; app_secret_sealed: string; verify_token_sealed: string }>>(
    `select r.value as revision, a.id, a.app_secret_sealed, a.verify_token_sealed
     from routing_revision r left join apps a on a.id = any($1::uuid[])`,
    [ids],
  )

/** With the routing revision they were read at. */
export const sealedAccesses = (db: Db, ids: readonly string[]) =>
  db.rows<AtRevision<{ id: string; graph_url: string; access_token_sealed: string }>>(
    `select r.value as revision, c.id, a.graph_url, c.access_token_sealed
     from routing_revision r left join (connections c join apps a on a.id = c.app_id) on c.id = any($1::uuid[])`,
    [ids],
  )
