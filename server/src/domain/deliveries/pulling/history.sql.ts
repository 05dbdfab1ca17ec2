import type { Db } from '../../../db/db.ts'

/** Which server it is. It fails on a standby, which must not serve events: it may not have all that came before. */
export const serverSql = `(select system_identifier::text from pg_control_system()) as system,
  ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int as timeline`

export interface HistoryRow {
  id: string
  system: string
  timeline: number
  beginsAt: string
  continues: boolean
  /** Events without a transaction ID were created before this time. Null if there are none. */
  oldUntil: Date | null
}

/** Begins a history if the server has changed. */
export const ensureHistory = (db: Db): Promise<object[]> => db.rows('select ensure_event_history()')

/** All histories, the current one last. */
export const readHistories = (db: Db): Promise<HistoryRow[]> =>
  db.rows(
    `select id, system_identifier as system, timeline, begins_at::text as "beginsAt", continues,
       nullif(old_until, '-infinity') as "oldUntil"
     from event_histories order by number`,
  )

/** Records that the current history has come this far. After a failover, cursors continue here at the latest. */
export const markHistory = (db: Db): Promise<number> =>
  db.change(
    `update event_histories set transaction_id = pg_current_xact_id()
     where number = (select max(number) from event_histories)`,
  )
