import type { Db } from '../../db/db.ts'

export interface ParkedText {
  connectionId: string
  phoneNumberId: string
  id: string
  receivedAt: Date
  webhook: string
}

/** The next parked updates of a workspace that match one of these patterns. Reads all of them. */
export const parkedNaming = (db: Db, workspaceId: string, patterns: readonly string[], afterId: string, take: number) =>
  db.rows<ParkedText>(
    `select p.connection_id as "connectionId", p.phone_number_id as "phoneNumberId", p.id, p.received_at as "receivedAt", p.webhook
     from parked_updates p
     where p.workspace_id = $1 and p.connection_id in (select c.id from connections c where c.workspace_id = $1) and p.id > $3
       and p.webhook ~ any($2::text[])
     order by p.id limit $4`,
    [workspaceId, patterns, afterId, take],
  )

export const replaceParked = (db: Db, { connectionId, phoneNumberId, id }: ParkedText, webhook: string) =>
  db.change('update parked_updates set webhook = $4 where connection_id = $1 and phone_number_id = $2 and id = $3', [
    connectionId,
    phoneNumberId,
    id,
    webhook,
  ])

export const deleteParked = (db: Db, { connectionId, phoneNumberId, id }: ParkedText) =>
  db.change('delete from parked_updates where connection_id = $1 and phone_number_id = $2 and id = $3', [
    connectionId,
    phoneNumberId,
    id,
  ])
