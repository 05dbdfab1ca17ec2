import type { Db } from '../../db/db.ts'

/** The part of an endpoint that is shown with its deliveries. */
export interface Endpoint {
  uuid: string
  workspaceId: string
  name: string
  url: string
  enabled: boolean
  disabledReason: string | null
  /** The types that it subscribes to. */
  events: string[]
  headerNames: string[]
}

export const endpointById = (db: Db, uuid: string): Promise<Endpoint | undefined> =>
  db.first(
    `select id as uuid, workspace_id as "workspaceId", name, url, enabled, disabled_reason as "disabledReason", events,
       coalesce(header_names, '{}') as "headerNames"
     from webhooks where id = $1 and deleted_at is null`,
    [uuid],
  )
