import type { Db } from '../../db/db.ts'

/** Rows that were asked for by id, and the routing revision at which they were read. */
export interface AtRevision<Row> {
  revision: number
  rows: Row[]
}

export interface SealedApp {
  id: string
  app_secret_sealed: string
  verify_token_sealed: string
}

export async function sealedApps(db: Db, ids: readonly string[]): Promise<AtRevision<SealedApp>> {
  const rows = await db.rows<{ revision: number } & (SealedApp | { id: null })>(
    `select r.value as revision, a.id, a.app_secret_sealed, a.verify_token_sealed
     from routing_revision r left join apps a on a.id = any($1::uuid[])`,
    [ids],
  )
  return { revision: rows[0]?.revision ?? 0, rows: rows.filter((row) => row.id !== null) as SealedApp[] }
}

export interface SealedAccess {
  id: string
  graph_url: string
  access_token_sealed: string
}

export async function sealedAccesses(db: Db, ids: readonly string[]): Promise<AtRevision<SealedAccess>> {
  const rows = await db.rows<{ revision: number } & (SealedAccess | { id: null })>(
    `select r.value as revision, c.id, a.graph_url, c.access_token_sealed
     from routing_revision r left join (connections c join apps a on a.id = c.app_id) on c.id = any($1::uuid[])`,
    [ids],
  )
  return { revision: rows[0]?.revision ?? 0, rows: rows.filter((row) => row.id !== null) as SealedAccess[] }
}
