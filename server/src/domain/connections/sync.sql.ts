import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'

/** A synchronisation that has begun: nobody else begins one of this connection before the lease runs out. */
export interface Started {
  id: string
  workspace_id: string
  app_id: string
  waba_id: string
  sync_ticket: number
  /** How many failed in a row before this one. */
  sync_failures: number
  /** When the lease runs out. */
  sync_due_at: Date
}

const started = 'c.id, c.workspace_id, c.app_id, c.waba_id, c.sync_ticket, c.sync_failures, c.sync_due_at'

export interface Lease {
  until: Date
  /** While updates are parked, a sync that died with its process is repeated sooner. */
  untilIfParked: Date
}

const leased = `sync_asked_at = $1, sync_ticket = c.sync_ticket + 1, sync_due_at =
       case when exists (select from parked_updates p where p.connection_id = c.id) then $3::timestamptz
         else $2::timestamptz end`

/** Leases up to `limit` due connections; a crashed process's lease simply runs out. */
export const claimDue = (db: Db, now: Date, lease: Lease, limit: number): Promise<Started[]> =>
  db.rows(
    `update connections c set ${leased}
     where c.id in (
       select id from connections where sync_due_at <= $1 order by sync_due_at limit $4 for update skip locked)
     returning ${started}`,
    [now, lease.until, lease.untilIfParked, limit],
  )

/** The same for one that somebody asks for, due or not. */
export const claimOne = (db: Db, id: string, now: Date, lease: Lease): Promise<Started | undefined> =>
  db.first(`update connections c set ${leased} where c.id = $4 returning ${started}`, [
    now,
    lease.until,
    lease.untilIfParked,
    id,
  ])

/** When the next synchronisation of any connection is due. */
export const soonestDue = (db: Db): Promise<{ at: Date | null } | undefined> =>
  db.first("select min(sync_due_at) as at from connections where sync_due_at < 'infinity'")

export interface SyncTurn {
  unlisted_syncs: number
}

/** Holds the connection for a transaction; undefined: a later synchronisation has been here first. */
export const holdTurn = (db: Db, { id, sync_ticket }: Started): Promise<SyncTurn | undefined> =>
  db.first('select unlisted_syncs from connections where id = $1 and sync_applied < $2 for update', [id, sync_ticket])

/** How a sync ended: when the next is due, and how many in a row have left updates parked. */
export interface Synced {
  next: Date
  listedAt: Date
  remark: string | null
  unlistedSyncs: number
}

const syncedUpdate = statement(
  {
    id: 'uuid',
    sync_ticket: 'bigint',
    sync_due_at: 'timestamptz',
    next: 'timestamptz',
    listedAt: 'timestamptz',
    remark: 'text',
    unlistedSyncs: 'int',
  },
  // Where the due time is no longer the lease, somebody brought the next one forward meanwhile; so it stays.
  ({ id, sync_ticket, sync_due_at, next, listedAt, remark, unlistedSyncs }) => `update connections set
       sync_applied = ${sync_ticket}, sync_due_at = case when sync_due_at = ${sync_due_at} then ${next} else sync_due_at end,
       synced_at = ${listedAt}, sync_error = ${remark}, unlisted_syncs = ${unlistedSyncs}, sync_failures = 0,
       sync_not_before = null
     where id = ${id}`,
)

export const recordSyncSuccess = (db: Db, started: Started, synced: Synced): Promise<number> =>
  syncedUpdate.change(db, { ...started, ...synced })

/** Nothing if a later one has settled already. */
export const recordSyncFailure = (
  db: Db,
  { id, sync_ticket }: Started,
  error: string,
  next: Date,
  notBefore: Date | null,
): Promise<number> =>
  db.change(
    `update connections set sync_error = $3, sync_failures = sync_failures + 1, sync_due_at = $4, sync_not_before = $5
     where id = $1 and sync_applied < $2`,
    [id, sync_ticket, error, next, notBefore],
  )
