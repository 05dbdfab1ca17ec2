import type { Db } from '../../db/db.ts'

/** A synchronisation that has begun: nobody else begins one of this connection before the lease runs out. */
export interface Started {
  id: string
  workspace_id: string
  app_id: string
  waba_id: string
  sync_ticket: number
  /** How many failed in a row before this one. */
  sync_failures: number
}

const started = 'c.id, c.workspace_id, c.app_id, c.waba_id, c.sync_ticket, c.sync_failures'

/** Leases up to `limit` due connections; a crashed process's lease simply runs out. */
export const claimDue = (db: Db, now: Date, leaseUntil: Date, limit: number): Promise<Started[]> =>
  db.rows(
    `update connections c set sync_due_at = $2, sync_ticket = c.sync_ticket + 1
     where c.id in (
       select id from connections where sync_due_at <= $1 order by sync_due_at limit $3 for update skip locked)
     returning ${started}`,
    [now, leaseUntil, limit],
  )

/** The same for one that somebody asks for, due or not. */
export const claimOne = (db: Db, id: string, leaseUntil: Date): Promise<Started | undefined> =>
  db.first(
    `update connections c set sync_due_at = $2, sync_ticket = c.sync_ticket + 1 where c.id = $1 returning ${started}`,
    [id, leaseUntil],
  )

/** Holds the connection for a transaction; false: a later synchronisation has been here first. */
export async function holdTurn(db: Db, { id, sync_ticket }: Started): Promise<boolean> {
  const row = await db.first('select 1 from connections where id = $1 and sync_applied < $2 for update', [
    id,
    sync_ticket,
  ])
  return row !== undefined
}

// Where the due time is no longer the lease, somebody brought the next one forward meanwhile; so it stays.
const nextDue = `case when sync_due_at = $3 then $4 else sync_due_at end`

export const settleSynced = (
  db: Db,
  { id, sync_ticket }: Started,
  leaseUntil: Date,
  next: Date,
  listedAt: Date,
  remark: string | null,
): Promise<number> =>
  db.change(
    `update connections set sync_applied = $2, sync_due_at = ${nextDue}, synced_at = $5, sync_error = $6,
       sync_failures = 0
     where id = $1`,
    [id, sync_ticket, leaseUntil, next, listedAt, remark],
  )

/** Nothing if a later one has settled already. */
export const settleFailed = (db: Db, { id, sync_ticket }: Started, error: string, next: Date): Promise<number> =>
  db.change(
    `update connections set sync_error = $3, sync_failures = sync_failures + 1, sync_due_at = $4
     where id = $1 and sync_applied < $2`,
    [id, sync_ticket, error, next],
  )
