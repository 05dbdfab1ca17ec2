import type { Db } from '../../db/db.ts'

export interface AppRow {
  id: string
  name: string
  graph_url: string
  created_at: Date
}

// Never the sealed columns: they are read by vault.sql.ts alone.
const columns = 'id, name, graph_url, created_at'

export const insertApp = (
  db: Db,
  app: AppRow & { appSecretSealed: string; verifyTokenSealed: string },
): Promise<number> =>
  db.change(
    `insert into apps (id, name, graph_url, app_secret_sealed, verify_token_sealed, created_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [app.id, app.name, app.graph_url, app.appSecretSealed, app.verifyTokenSealed, app.created_at],
  )

export const allApps = (db: Db): Promise<AppRow[]> => db.rows(`select ${columns} from apps order by created_at, id`)

export const appById = (db: Db, id: string): Promise<AppRow | undefined> =>
  db.first(`select ${columns} from apps where id = $1`, [id])

export const setGraphUrl = (db: Db, id: string, graphUrl: string): Promise<number> =>
  db.change('update apps set graph_url = $2 where id = $1', [id, graphUrl])
