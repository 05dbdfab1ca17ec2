import { byteStrings, texts, uuids } from '../../db/array-format.ts'
import type { Db } from '../../db/db.ts'

export interface NewParked {
  id: string
  appId: string
  wabaId: string
  phoneNumberId: string
  digest: Buffer
  webhook: string
}

export interface Parked {
  id: string
  connectionId: string
  workspaceId: string
  /** Nothing was parked for this number before. */
  isFirst: boolean
  /** False: the same update is parked already. */
  isStored: boolean
}

/**
 * Stores updates of accounts that are connected through their app; the others are missing from the result. Inserted in the
 * order of the unique key, so that two batches cannot deadlock.
 */
export const insertParked = (db: Db, rows: readonly NewParked[], now: Date): Promise<Parked[]> =>
  db.rows(
    `with new as materialized (
       select n.*, c.id as connection_id, c.workspace_id
       from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bytea[], $6::text[])
         as n(id, app_id, waba_id, phone_number_id, digest, webhook)
       join connections c on c.app_id = n.app_id and c.waba_id = n.waba_id
     ), stored as (
       insert into parked_updates (id, workspace_id, connection_id, phone_number_id, received_at, digest, webhook)
       select n.id, n.workspace_id, n.connection_id, n.phone_number_id, $7, n.digest, n.webhook
       from new n order by n.connection_id, n.phone_number_id, n.digest, n.id
       on conflict do nothing returning id
     )
     select n.id, n.connection_id as "connectionId", n.workspace_id as "workspaceId", s.id is not null as "isStored",
       not exists (
         select from parked_updates p
         where p.connection_id = n.connection_id and p.phone_number_id = n.phone_number_id) as "isFirst"
     from new n left join stored s on s.id = n.id`,
    [
      uuids(rows.map((row) => row.id)),
      uuids(rows.map((row) => row.appId)),
      texts(rows.map((row) => row.wabaId)),
      texts(rows.map((row) => row.phoneNumberId)),
      byteStrings(rows.map((row) => row.digest)),
      texts(rows.map((row) => row.webhook)),
      now,
    ],
  )

export interface SyncGaps {
  usualSeconds: number
  /** After a sync that failed, or that did not find a number. */
  troubledSeconds: number
}

/** Makes syncs due now, but not sooner after the last one than the gap, and not within a pause that the network asked for. */
export const bringSyncsForward = (db: Db, ids: readonly string[], now: Date, gaps: SyncGaps): Promise<number> =>
  db.change(
    `with locked as (select id from connections where id = any($1::uuid[]) order by id for no key update)
     update connections c set
       sync_due_at = least(sync_due_at, greatest($2::timestamptz, sync_not_before, sync_asked_at + make_interval(secs =>
         case when sync_failures > 0 or unlisted_syncs > 0 then $4::int else $3::int end))),
       unlisted_syncs = least(unlisted_syncs, 1)
     from locked where c.id = locked.id`,
    [ids, now, gaps.usualSeconds, gaps.troubledSeconds],
  )

/** The distinct numbers of a table that may be long, by one look into the index for each number. */
const parkedNumbers = (where: string) => `with recursive numbers as (
       (select p.connection_id, p.phone_number_id from parked_updates p where ${where}
        order by p.connection_id, p.phone_number_id limit 1)
       union all
       select next.* from numbers n cross join lateral (
         select p.connection_id, p.phone_number_id from parked_updates p
         where (p.connection_id, p.phone_number_id) > (n.connection_id, n.phone_number_id) and ${where}
         order by p.connection_id, p.phone_number_id limit 1) as next
     )`

export interface UnlistedNumber {
  phoneNumberId: string
  updates: number
}

/** The numbers for which a connection has parked updates and that are still unknown. */
export const unlistedOf = (db: Db, connectionId: string): Promise<UnlistedNumber[]> =>
  db.rows(
    `${parkedNumbers('p.connection_id = $1')}
     select n.phone_number_id as "phoneNumberId", (
       select count(*)::int from parked_updates p
       where p.connection_id = n.connection_id and p.phone_number_id = n.phone_number_id) as updates
     from numbers n join connections c on c.id = n.connection_id
     where not exists (select from senders s where s.app_id = c.app_id and s.phone_number_id = n.phone_number_id)`,
    [connectionId],
  )

/** A number with parked updates that is known now, and where its updates go. */
export interface KnownNumber {
  connectionId: string
  appId: string
  phoneNumberId: string
  senderId: string
  workspaceId: string
}

export const knownNumbers = (db: Db): Promise<KnownNumber[]> =>
  db.rows(
    `${parkedNumbers('true')}
     select n.connection_id as "connectionId", c.app_id as "appId", n.phone_number_id as "phoneNumberId",
       s.id as "senderId", s.workspace_id as "workspaceId"
     from numbers n join connections c on c.id = n.connection_id
     join senders s on s.app_id = c.app_id and s.phone_number_id = n.phone_number_id`,
  )

type NumberKey = Pick<KnownNumber, 'connectionId' | 'phoneNumberId'>

/** One process at a time releases the updates of a number, so that their order holds. Held until the transaction ends. */
export async function lockNumber(db: Db, { connectionId, phoneNumberId }: NumberKey): Promise<boolean> {
  const row = await db.first<{ locked: boolean }>(
    'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as locked',
    [`parked_updates ${connectionId} ${phoneNumberId}`],
  )
  return row?.locked === true
}

export interface TakenUpdate {
  id: string
  receivedAt: Date
  webhook: string
}

/** Deletes and returns the oldest updates of a number, in the order of arrival: at least one, and no more than both limits. */
export const takeOldest = (
  db: Db,
  { connectionId, phoneNumberId }: NumberKey,
  now: Date,
  limits: { updates: number; bytes: number },
): Promise<TakenUpdate[]> =>
  db.rows(
    `with oldest as materialized (
       select p.id, p.webhook from parked_updates p
       where p.connection_id = $1 and p.phone_number_id = $2 and (p.release_after is null or p.release_after <= $3)
       order by p.id limit $4
     ), fitting as materialized (
       select id, row_number() over by_age as position, sum(octet_length(webhook)) over by_age as bytes
       from oldest window by_age as (order by id)
     ), taken as (
       delete from parked_updates p using fitting f
       where p.connection_id = $1 and p.phone_number_id = $2 and p.id = f.id and (f.bytes <= $5 or f.position = 1)
       returning p.id, p.received_at, p.webhook
     )
     select id, received_at as "receivedAt", webhook from taken order by id`,
    [connectionId, phoneNumberId, now, limits.updates, limits.bytes],
  )

export const postponeRelease = (db: Db, { connectionId, phoneNumberId }: NumberKey, id: string, until: Date) =>
  db.change(
    'update parked_updates set release_after = $4 where connection_id = $1 and phone_number_id = $2 and id = $3',
    [connectionId, phoneNumberId, id, until],
  )

export const dropParked = (db: Db, before: Date): Promise<number> =>
  db.change('delete from parked_updates where received_at < $1', [before])
