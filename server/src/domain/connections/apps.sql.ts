import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'

export interface AppRow {
  id: string
  name: string
  graph_url: string
  meta_app_id: string | null
  created_at: Date
}

// Without the encrypted columns: only vault.sql.ts reads those.
const columns = 'id, name, graph_url, meta_app_id, created_at'

const insertion = statement(
  {
    app: {
      id: 'uuid',
      name: 'text',
      graph_url: 'text',
      meta_app_id: 'text',
      appSecretSealed: 'text',
      verifyTokenSealed: 'text',
      created_at: 'timestamptz',
    },
  },
  ({ app }) => `insert into apps (${app.columns}) select * from ${app}
     on conflict (graph_url, meta_app_id) where meta_app_id is not null do nothing`,
)

/** Returns 0 if the Meta app is stored already. */
export const insertApp = (
  db: Db,
  app: AppRow & { appSecretSealed: string; verifyTokenSealed: string },
): Promise<number> => insertion.change(db, { app: [app] })

export const allApps = (db: Db): Promise<AppRow[]> => db.rows(`select ${columns} from apps order by created_at, id`)

export const appById = (db: Db, id: string): Promise<AppRow | undefined> =>
  db.first(`select ${columns} from apps where id = $1`, [id])

export const setMetaAppId = (db: Db, id: string, metaAppId: string): Promise<number> =>
  db.change('update apps set meta_app_id = $2 where id = $1', [id, metaAppId])

export const deleteApp = (db: Db, id: string): Promise<number> => db.change('delete from apps where id = $1', [id])

export const setGraphUrl = (db: Db, id: string, graphUrl: string): Promise<number> =>
  db.change('update apps set graph_url = $2 where id = $1', [id, graphUrl])
