import type { Db } from '../../db/db.ts'
import { type KeySet, keySetClause, keySetValues } from '../../lib/key-set.ts'

export interface SenderRow {
  id: string
  phone_number: string
  display_name: string | null
  status: string
  quality_rating: string
  created_at: Date
}

const columns = 'id, phone_number, display_name, status, quality_rating, created_at'

export const sendersOf = (db: Db, workspaceId: string, page: KeySet): Promise<SenderRow[]> =>
  db.rows(`select ${columns} from senders where workspace_id = $1 ${keySetClause(page, 2)}`, [
    workspaceId,
    ...keySetValues(page),
  ])

export async function countSenders(db: Db, workspaceId: string): Promise<number> {
  const row = await db.first<{ total: number }>('select count(*) as total from senders where workspace_id = $1', [
    workspaceId,
  ])
  return row?.total ?? 0
}

export const senderById = (db: Db, workspaceId: string, id: string): Promise<SenderRow | undefined> =>
  db.first(`select ${columns} from senders where workspace_id = $1 and id = $2`, [workspaceId, id])

export interface UsableSender {
  id: string
  status: string
  connectionId: string
}

/** The sender of that id, or two of those there are; one that is gone is none. */
export const sendersToUse = (db: Db, workspaceId: string, id: string | null): Promise<UsableSender[]> =>
  db.rows(
    `select id, status, connection_id as "connectionId" from senders
     where workspace_id = $1 and status <> 'DELETED' and ($2::uuid is null or id = $2) order by created_at, id limit 2`,
    [workspaceId, id],
  )

export interface SenderOwner {
  workspaceId: string
  connectionId: string
  appId: string
}

export interface NewSender {
  id: string
  phoneNumberId: string
  phoneNumber: string
  displayName: string | null
  status: string
  qualityRating: string
  throughput: string | null
}

/**
 * Stores what is new and changes what differs. A number that moved between accounts of one workspace moves with it; one
 * that is another workspace's stays where it is.
 */
export const upsertSenders = (db: Db, owner: SenderOwner, senders: readonly NewSender[], now: Date): Promise<number> =>
  db.change(
    `insert into senders as s (id, workspace_id, connection_id, app_id, phone_number_id, phone_number, display_name,
       status, quality_rating, throughput, created_at, updated_at)
     select n.id, $1, $2, $3, n.phone_number_id, n.phone_number, n.display_name, n.status, n.quality_rating,
       n.throughput, $4, $4
     from unnest($5::uuid[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[])
       as n(id, phone_number_id, phone_number, display_name, status, quality_rating, throughput)
     order by n.phone_number_id
     on conflict (app_id, phone_number_id) do update set
       connection_id = excluded.connection_id, phone_number = excluded.phone_number,
       display_name = excluded.display_name, status = excluded.status, quality_rating = excluded.quality_rating,
       throughput = excluded.throughput, updated_at = excluded.updated_at
     where s.workspace_id = excluded.workspace_id and
       (s.connection_id, s.phone_number, s.display_name, s.status, s.quality_rating, s.throughput) is distinct from
       (excluded.connection_id, excluded.phone_number, excluded.display_name, excluded.status,
         excluded.quality_rating, excluded.throughput)`,
    [
      owner.workspaceId,
      owner.connectionId,
      owner.appId,
      now,
      senders.map((sender) => sender.id),
      senders.map((sender) => sender.phoneNumberId),
      senders.map((sender) => sender.phoneNumber),
      senders.map((sender) => sender.displayName),
      senders.map((sender) => sender.status),
      senders.map((sender) => sender.qualityRating),
      senders.map((sender) => sender.throughput),
    ],
  )

export const markSendersGone = (
  db: Db,
  { workspaceId, connectionId }: SenderOwner,
  listed: readonly string[],
  now: Date,
): Promise<number> =>
  db.change(
    `update senders set status = 'DELETED', updated_at = $4
     where workspace_id = $1 and connection_id = $2 and phone_number_id <> all($3::text[]) and status <> 'DELETED'`,
    [workspaceId, connectionId, listed, now],
  )

/** Those of the numbers that another workspace has through the same app. */
export const sendersElsewhere = (
  db: Db,
  { workspaceId, appId }: SenderOwner,
  phoneNumberIds: readonly string[],
): Promise<{ phone_number: string }[]> =>
  db.rows(
    `select phone_number from senders
     where app_id = $1 and phone_number_id = any($2::text[]) and workspace_id <> $3 order by phone_number`,
    [appId, phoneNumberIds, workspaceId],
  )
