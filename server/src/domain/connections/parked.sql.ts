import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'

export interface Parked {
  id: string
  connectionId: string
  workspaceId: string
  /** Nothing was parked for this number before. */
  isFirst: boolean
  /** False if the same update is parked already. */
  isStored: boolean
}

/**
 * Stores updates of accounts that are connected through their app; the others are missing from the result. Inserted in
 * the order of the unique key, so that two batches cannot deadlock.
 */
export const insertParked = statement(
  {
    updates: {
      id: 'uuid',
      appId: 'uuid',
      wabaId: 'text',
      phoneNumberId: 'text',
      digest: 'bytea',
      webhook: 'text',
    },
    now: 'timestamptz',
  },
  ({ updates, now }) => `with new as materialized (
       select updates.*, c.id as connection_id, c.workspace_id
       from ${updates} join connections c on c.app_id = updates.app_id and c.waba_id = updates.waba_id
     ), stored as (
       insert into parked_updates (id, workspace_id, connection_id, phone_number_id, received_at, digest, webhook)
       select n.id, n.workspace_id, n.connection_id, n.phone_number_id, ${now}, n.digest, n.webhook
       from new n order by n.connection_id, n.phone_number_id, n.digest, n.id
       on conflict do nothing returning id
     )
     select n.id, n.connection_id as "connectionId", n.workspace_id as "workspaceId", s.id is not null as "isStored",
       not exists (
         select from parked_updates p
         where p.connection_id = n.connection_id and p.phone_number_id = n.phone_number_id) as "isFirst"
     from new n left join stored s on s.id = n.id`,
).rows<Parked>

export interface SyncGaps {
  normalSeconds: number
  /** After a sync that failed, or that did not find a number. */
  afterFailureSeconds: number
}

/** Makes syncs due now, but keeps the minimum gap after the last one and any pause that the network asked for. */
export const bringSyncsForward = (db: Db, ids: readonly string[], now: Date, gaps: SyncGaps): Promise<number> =>
  db.change(
    `with locked as (select id from connections where id = any($1::uuid[]) order by id for no key update)
     update connections c set
       sync_due_at = least(sync_due_at, greatest($2::timestamptz, sync_not_before, sync_asked_at + make_interval(secs =>
         case when sync_failures > 0 or unlisted_syncs > 0 then $4::int else $3::int end))),
       unlisted_syncs = least(unlisted_syncs, 1)
     from locked where c.id = locked.id`,
    [ids, now, gaps.normalSeconds, gaps.afterFailureSeconds],
  )

/** The distinct numbers (a loose index scan): one index lookup for each number, however many updates are parked. */
const parkedNumbers = (where: string) => `with recursive numbers as (
       (select p.connection_id, p.phone_number_id from parked_updates p where ${where}
        order by p.connection_id, p.phone_number_id limit 1)
       union all
       select next.* from numbers n cross join lateral (
         select p.connection_id, p.phone_number_id from parked_updates p
         where (p.connection_id, p.phone_number_id) > (n.connection_id, n.phone_number_id) and ${where}
         order by p.connection_id, p.phone_number_id limit 1) as next
     )`

/** A number that has parked updates. */
export interface ParkedNumber {
  connectionId: string
  appId: string
  phoneNumberId: string
}

/** Numbers with parked updates, of one connection or of all (null). */
export const numbersWithParked = (db: Db, connectionId: string | null): Promise<ParkedNumber[]> =>
  db.rows(
    `${parkedNumbers(connectionId === null ? 'true' : 'p.connection_id = $1')}
     select n.connection_id as "connectionId", c.app_id as "appId", n.phone_number_id as "phoneNumberId"
     from numbers n join connections c on c.id = n.connection_id`,
    connectionId === null ? [] : [connectionId],
  )

export interface UnlistedNumber {
  phoneNumberId: string
  updates: number
}

export const countParkedByNumber = (db: Db, connectionId: string, phoneNumberIds: readonly string[]) =>
  db.rows<UnlistedNumber>(
    `select phone_number_id as "phoneNumberId", count(*)::int as updates from parked_updates
     where connection_id = $1 and phone_number_id = any($2::text[]) group by 1 order by 1`,
    [connectionId, phoneNumberIds],
  )

export interface WaitingNumber extends UnlistedNumber {
  connectionId: string
  wabaId: string
  workspaceId: string
  since: Date
  /** Why the last sync failed; null if it succeeded. */
  syncError: string | null
  syncedAt: Date | null
}

/** Numbers with parked updates in all workspaces, the longest wait first. */
export const waitingNumbers = (db: Db): Promise<WaitingNumber[]> =>
  db.rows(
    `select p.phone_number_id as "phoneNumberId", c.id as "connectionId", c.waba_id as "wabaId",
       c.workspace_id as "workspaceId", p.updates, p.since,
       case when c.sync_failures > 0 then c.sync_error end as "syncError", c.synced_at as "syncedAt"
     from (select connection_id, phone_number_id, count(*)::int as updates, min(received_at) as since
       from parked_updates group by connection_id, phone_number_id) as p
     join connections c on c.id = p.connection_id order by p.since, p.phone_number_id`,
  )

export const countParked = (db: Db): Promise<{ updates: number; oldestAt: Date | null } | undefined> =>
  db.first('select count(*)::int as updates, min(received_at) as "oldestAt" from parked_updates')

type NumberKey = Pick<ParkedNumber, 'connectionId' | 'phoneNumberId'>

/**
 * Only one process at a time releases a number's updates, which keeps them in order. Locked until the transaction ends.
 */
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

/**
 * Deletes and returns a number's oldest updates in order of arrival: at least one, and otherwise within both limits.
 */
export const takeOldestParked = (
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

/** Deletes updates with lower IDs, at most `limit`. The IDs of a number sort by arrival: one index lookup for each number. */
export const deleteParkedBefore = (db: Db, beforeId: string, limit: number): Promise<number> =>
  db.change(
    `${parkedNumbers('true')}, old as materialized (
       select o.* from numbers n cross join lateral (
         select p.connection_id, p.phone_number_id, p.id from parked_updates p
         where p.connection_id = n.connection_id and p.phone_number_id = n.phone_number_id and p.id < $1
         order by p.id limit $2) as o
       limit $2
     )
     delete from parked_updates p using old
     where (p.connection_id, p.phone_number_id, p.id) = (old.connection_id, old.phone_number_id, old.id)`,
    [beforeId, limit],
  )
