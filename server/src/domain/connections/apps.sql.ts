import type { Db } from '../../db/db.ts'
import { insertion } from '../../db/statement.ts'

/**
 * An app at Meta. It belongs to the installation, not to a workspace; its webhooks arrive at `/network/whatsapp/{id}`.
 */
export interface App {
  id: string
  name: string
  graphUrl: string
  /** Its ID at Meta; null if it was registered without it. */
  metaAppId: string | null
  createdAt: Date
}

// Without the encrypted columns: only vault.sql.ts reads those.
const columns = `id, name, graph_url as "graphUrl", meta_app_id as "metaAppId", created_at as "createdAt"`

/** Returns 0 if the Meta app is stored already. */
export const insertApp = insertion(
  'apps',
  {
    id: 'uuid',
    name: 'text',
    graphUrl: 'text',
    metaAppId: 'text',
    appSecretSealed: 'text',
    verifyTokenSealed: 'text',
    createdAt: 'timestamptz',
  },
  'on conflict (graph_url, meta_app_id) where meta_app_id is not null do nothing',
)

/** Oldest first. */
export const allApps = (db: Db): Promise<App[]> => db.rows(`select ${columns} from apps order by created_at, id`)

export const appById = (db: Db, id: string): Promise<App | undefined> =>
  db.first(`select ${columns} from apps where id = $1`, [id])

export const setMetaAppId = (db: Db, id: string, metaAppId: string): Promise<number> =>
  db.change('update apps set meta_app_id = $2 where id = $1', [id, metaAppId])

export const deleteApp = (db: Db, id: string): Promise<number> => db.change('delete from apps where id = $1', [id])

export const setGraphUrl = (db: Db, id: string, graphUrl: string): Promise<number> =>
  db.change('update apps set graph_url = $2 where id = $1', [id, graphUrl])
