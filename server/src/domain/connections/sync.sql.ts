import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'

/** A sync that has started. The loop starts no other for this connection until the lease expires. */
export interface StartedSync {
  id: string
  workspace_id: string
  app_id: string
  waba_id: string
  sync_ticket: number
  /** Failures in a row before this sync. */
  sync_failures: number
  /** When the lease expires. */
  sync_due_at: Date
}

const startedColumns = 'c.id, c.workspace_id, c.app_id, c.waba_id, c.sync_ticket, c.sync_failures, c.sync_due_at'

export interface Lease {
  until: Date
  /** Shorter while updates are parked, so that a sync whose process died is repeated sooner. */
  untilIfParked: Date
}

const setLease = `sync_asked_at = $1, sync_ticket = c.sync_ticket + 1, sync_due_at =
       case when exists (select from parked_updates p where p.connection_id = c.id) then $3::timestamptz
         else $2::timestamptz end`

/** Leases up to `limit` due connections. If the process crashes, the lease expires. */
export const claimDue = (db: Db, now: Date, lease: Lease, limit: number): Promise<StartedSync[]> =>
  db.rows(
    `update connections c set ${setLease}
     where c.id in (
       select id from connections where sync_due_at <= $1 order by sync_due_at limit $4 for update skip locked)
     returning ${startedColumns}`,
    [now, lease.until, lease.untilIfParked, limit],
  )

/** Leases one connection for a manual sync, due or not, leased or not. */
export const claimOne = (db: Db, id: string, now: Date, lease: Lease): Promise<StartedSync | undefined> =>
  db.first(`update connections c set ${setLease} where c.id = $4 returning ${startedColumns}`, [
    now,
    lease.until,
    lease.untilIfParked,
    id,
  ])

/** When the next sync of any connection is due. */
export const nextSyncDue = (db: Db): Promise<{ at: Date | null } | undefined> =>
  db.first("select min(sync_due_at) as at from connections where sync_due_at < 'infinity'")

export interface LockedConnection {
  unlisted_syncs: number
  /** No sync has succeeded before. */
  is_first: boolean
}

/** Locks the connection until the transaction ends. Undefined if a later sync has already been applied. */
export const lockConnection = (db: Db, { id, sync_ticket }: StartedSync): Promise<LockedConnection | undefined> =>
  db.first(
    `select unlisted_syncs, synced_at is null as is_first from connections where id = $1 and sync_applied < $2
     for update`,
    [id, sync_ticket],
  )

/** The started sync, when the next one is due, and how many syncs in a row have left updates parked. */
export const recordSyncSuccess = statement(
  {
    id: 'uuid',
    sync_ticket: 'bigint',
    sync_due_at: 'timestamptz',
    next: 'timestamptz',
    listedAt: 'timestamptz',
    remark: 'text',
    unlistedSyncs: 'int',
  },
  // If the due time is no longer the lease, the next sync was brought forward in the meantime: keep that time.
  ({ id, sync_ticket, sync_due_at, next, listedAt, remark, unlistedSyncs }) => `update connections set
       sync_applied = ${sync_ticket}, sync_due_at = case when sync_due_at = ${sync_due_at} then ${next} else sync_due_at end,
       synced_at = ${listedAt}, sync_error = ${remark}, unlisted_syncs = ${unlistedSyncs}, sync_failures = 0,
       sync_not_before = null, status = case when status_until <= ${listedAt} then 'ACTIVE' else status end,
       status_reason = case when status_until <= ${listedAt} then null else status_reason end,
       status_until = case when status_until <= ${listedAt} then null else status_until end
     where id = ${id}`,
).change

/** Null if the token does not expire. */
export const setTokenExpiry = (db: Db, id: string, expiresAt: Date | null, now: Date): Promise<number> =>
  db.change(
    `update connections set token_expires_at = $2, token_seen_at = case when $2::timestamptz is not null then $3::timestamptz end
     where id = $1 and token_expires_at is distinct from $2::timestamptz`,
    [id, expiresAt, now],
  )

/** Changes nothing if a later sync has already been applied. */
export const recordSyncFailure = (
  db: Db,
  { id, sync_ticket }: StartedSync,
  error: string,
  next: Date,
  notBefore: Date | null,
): Promise<number> =>
  db.change(
    `update connections set sync_error = $3, sync_failures = sync_failures + 1, sync_due_at = $4, sync_not_before = $5
     where id = $1 and sync_applied < $2`,
    [id, sync_ticket, error, next, notBefore],
  )
