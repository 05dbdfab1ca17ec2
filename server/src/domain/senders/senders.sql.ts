import type { Db } from '../../db/db.ts'
import type { AtRevision } from '../../db/revisioned-cache.ts'
import { pagedStatement, statement } from '../../db/statement.ts'

export interface SenderRow {
  id: string
  phone_number: string
  display_name: string | null
  status: string
  quality_rating: string
  created_at: Date
}

const columns = 'id, phone_number, display_name, status, quality_rating, created_at'

export const senderList = pagedStatement(
  { workspaceId: 'uuid' },
  ({ workspaceId }) => `select ${columns} from senders where workspace_id = ${workspaceId}`,
)

/** Also a deleted one. */
export const senderById = (db: Db, workspaceId: string, id: string): Promise<SenderRow | undefined> =>
  db.first(`select ${columns} from senders where workspace_id = $1 and id = $2`, [workspaceId, id])

export const sendersById = (db: Db, workspaceId: string, ids: readonly string[]): Promise<SenderRow[]> =>
  db.rows(`select ${columns} from senders where workspace_id = $1 and id = any($2::uuid[])`, [workspaceId, ids])

export interface UsableSender {
  id: string
  status: string
  connectionId: string
  throughput: string | null
}

/**
 * For each row of `wanted`, by its index: the sender with this id, or without an id up to two of the workspace's senders.
 * Deleted senders are left out.
 */
export const sendersToUse = statement(
  { wanted: { index: 'int', workspaceId: 'uuid', senderId: 'uuid' } },
  ({ wanted }) => `select wanted.index, s.id, s.status, s.connection_id as "connectionId", s.throughput
     from ${wanted} cross join lateral (
       select * from senders s
       where s.workspace_id = wanted.workspace_id and s.status <> 'DELETED'
         and (wanted.sender_id is null or s.id = wanted.sender_id)
       order by s.created_at, s.id limit 2) as s`,
).rows<UsableSender & { index: number }>

export interface SenderOwner {
  workspaceId: string
  connectionId: string
  appId: string
}

/** A sender with one of these statuses. It has a `status_reason` only if a notice blocked it; no other code sets or clears the reason. */
const isBlocked = `status in ('RESTRICTED', 'BANNED', 'DISCONNECTED')`

/** The columns that a sync replaces. */
const synced = [
  ...['connection_id', 'phone_number', 'display_name', 'status', 'quality_rating', 'throughput', 'messaging_limit'],
  ...['name_status', 'requested_name', 'requested_name_status', 'verification_status', 'has_pin'],
]

/**
 * Inserts new numbers and updates changed ones. A number that moved to another account of the same workspace is
 * updated; a number of another workspace is left alone.
 */
export const upsertSenders = statement(
  {
    workspaceId: 'uuid',
    connectionId: 'uuid',
    appId: 'uuid',
    now: 'timestamptz',
    listed: {
      id: 'uuid',
      phoneNumberId: 'text',
      phoneNumber: 'text',
      displayName: 'text',
      status: 'text',
      qualityRating: 'text',
      throughput: 'text',
      messagingLimit: 'text',
      nameStatus: 'text',
      requestedName: 'text',
      requestedNameStatus: 'text',
      verificationStatus: 'text',
      hasPin: 'bool',
    },
  },
  ({ workspaceId, connectionId, appId, now, listed }) =>
    `insert into senders as s (${listed.columns}, workspace_id, connection_id, app_id, created_at, updated_at)
     select listed.*, ${workspaceId}, ${connectionId}, ${appId}, ${now}, ${now} from ${listed}
     order by listed.phone_number_id
     on conflict (app_id, phone_number_id) do update set
       ${synced.map((column) => `${column} = excluded.${column}`).join(', ')}, updated_at = excluded.updated_at,
       status_reason = case when s.status = excluded.status
         and (s.quality_rating = excluded.quality_rating or s.${isBlocked}) then s.status_reason end
     where s.workspace_id = excluded.workspace_id and
       (${synced.map((column) => `s.${column}`).join(', ')}) is distinct from
       (${synced.map((column) => `excluded.${column}`).join(', ')})`,
).change

export const markSendersDeleted = (
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

export type Account = Pick<SenderOwner, 'workspaceId' | 'connectionId'>

export interface SenderState {
  id: string
  status: string
  quality: string
  reason: string | null
}

/**
 * The senders of a workspace. Locks them until the transaction ends, so that no other one changes them: a number may be
 * listed by several accounts.
 */
export const lockSenderStates = (db: Db, workspaceId: string): Promise<SenderState[]> =>
  db.rows(
    `select id, status, quality_rating as quality, status_reason as reason from senders where workspace_id = $1
     order by id for no key update`,
    [workspaceId],
  )

/** Finds a sender by its digits or by the network's ID. */
const isNumber = '$3 in (phone_number, phone_number_id)'

/**
 * After a notice about a number, or about all numbers of an account (null). A notice that they can send again, with the
 * status `CONNECTED`, is about the numbers that an earlier notice blocked.
 */
export const changeStatuses = (
  db: Db,
  { workspaceId, connectionId }: Account,
  number: string | null,
  { status, reason }: { status: string; reason: string | null },
  now: Date,
): Promise<number> =>
  db.change(
    `update senders set status = $4, status_reason = case when $4 <> 'CONNECTED' then $5 end, updated_at = $6
     where workspace_id = $1 and connection_id = $2 and ($3::text is null or ${isNumber})
       and case when $4 = 'CONNECTED' then status_reason is not null and ${isBlocked} else status <> 'DELETED' end`,
    [workspaceId, connectionId, number, status, reason, now],
  )

/** Values of a notice about a number. An omitted value stays, and so does the reason of a blocked number. */
export interface NumberChange {
  qualityRating?: string
  displayName?: string | null
  throughput?: string
  reason: string | null
}

export const changeNumber = (
  db: Db,
  { workspaceId, connectionId }: Account,
  number: string,
  { qualityRating, displayName, throughput, reason }: NumberChange,
  now: Date,
): Promise<number> =>
  db.change(
    `update senders set quality_rating = coalesce($4, quality_rating), display_name = coalesce($5, display_name),
       throughput = coalesce($6, throughput), status_reason = case when ${isBlocked} then status_reason else $7 end,
       updated_at = $8
     where workspace_id = $1 and connection_id = $2 and ${isNumber} and status <> 'DELETED'`,
    [workspaceId, connectionId, number, qualityRating, displayName, throughput, reason, now],
  )

/** The numbers among these that belong to another workspace through the same app. */
export const sendersElsewhere = (db: Db, { workspaceId, appId }: SenderOwner, phoneNumberIds: readonly string[]) =>
  db.rows<{ phone_number: string }>(
    `select phone_number from senders
     where app_id = $1 and phone_number_id = any($2::text[]) and workspace_id <> $3 order by phone_number`,
    [appId, phoneNumberIds, workspaceId],
  )

/** The sender that a phone number of the network belongs to, connected through the app that received the webhook. */
export interface Destination {
  appId: string
  phoneNumberId: string
  senderId: string
  workspaceId: string
}

/** With the routing revision they were read at. */
export const destinationsOf = (db: Db, numbers: readonly { appId: string; phoneNumberId: string }[]) =>
  db.rows<AtRevision<Destination>>(
    `select r.value as revision, s.app_id as "appId", s.phone_number_id as "phoneNumberId", s.id as "senderId",
       s.workspace_id as "workspaceId"
     from routing_revision r left join (unnest($1::uuid[], $2::text[]) as n(app_id, phone_number_id)
       join senders s on s.app_id = n.app_id and s.phone_number_id = n.phone_number_id) on true`,
    [numbers.map((number) => number.appId), numbers.map((number) => number.phoneNumberId)],
  )

/** The connection of a sender, and the network's id of its phone number. */
export const networkIdsOf = (db: Db, id: string) =>
  db.first<{ connectionId: string; phoneNumberId: string }>(
    'select connection_id as "connectionId", phone_number_id as "phoneNumberId" from senders where id = $1',
    [id],
  )

/** A sender with the IDs that find it at the network. */
export interface LocatedSender extends SenderRow {
  connection_id: string
  app_id: string
  phone_number_id: string
  status_reason: string | null
}

/** The senders of a workspace that a text names: by ID, by phone number or by the network's ID. Those in use first. */
export const sendersNamed = (db: Db, workspaceId: string, name: string): Promise<LocatedSender[]> =>
  db.rows(
    `select ${columns}, connection_id, app_id, phone_number_id, status_reason from senders
     where workspace_id = $1 and $2 in (id::text, phone_number, phone_number_id)
     order by status = 'DELETED', created_at desc, id`,
    [workspaceId, name],
  )

/** The senders of an app, of all workspaces that `db` sees. */
export const sendersOfApp = (db: Db, appId: string): Promise<{ id: string; workspaceId: string }[]> =>
  db.rows('select id, workspace_id as "workspaceId" from senders where app_id = $1', [appId])

/** The number of senders that are not deleted, by workspace; of one workspace or of all (null). */
export const countActiveSenders = (db: Db, workspaceId: string | null) =>
  db.rows<{ workspaceId: string; count: number }>(
    `select workspace_id as "workspaceId", count(*) from senders
     where status <> 'DELETED' and ($1::uuid is null or workspace_id = $1) group by 1`,
    [workspaceId],
  )

/** Senders that are not connected or have a red quality rating, of one workspace or of all (null). */
export const failingSenders = (db: Db, workspaceId: string | null): Promise<SenderRow[]> =>
  db.rows(
    `select ${columns} from senders
     where status <> 'DELETED' and (status <> 'CONNECTED' or quality_rating = 'RED')
       and ($1::uuid is null or workspace_id = $1)
     order by created_at, id`,
    [workspaceId],
  )

export const senderIdsOf = async (db: Db, workspaceId: string): Promise<string[]> =>
  (await db.rows<{ id: string }>('select id from senders where workspace_id = $1', [workspaceId])).map(({ id }) => id)
