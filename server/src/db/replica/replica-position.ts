/** Which database a server has, and how far. */
export interface Position {
  /** The same for a primary and its standbys. */
  system: string
  database: string
  role: string
  timeline: number
  /** The last byte of the WAL that was written on the primary, or replayed on the standby. Null if it is no standby. */
  wal: number | null
}

const identity = `(select system_identifier::text from pg_control_system()) as system,
  current_database()::text as database, current_user::text as role`

/**
 * The position of inserts, because some commits do not wait until they are flushed. At the start of a page of the WAL it is
 * behind the page's header, which a standby only counts with the next record; no record is as short as that header.
 */
export const primaryText = `select ${identity}, ('x' || left(pg_walfile_name(at), 8))::bit(32)::int as timeline,
    (case when (at - '0/0') % page <= 40 then (at - '0/0') - (at - '0/0') % page else at - '0/0' end)::int8 as wal
  from (select pg_current_wal_insert_lsn() as at, current_setting('wal_block_size')::int as page) w`

/** The timeline is that of the last checkpoint. So a standby of a server that was the primary before is not taken for one of this. */
export const standbyText = `select ${identity}, (select timeline_id from pg_control_checkpoint()) as timeline,
    case when pg_is_in_recovery() then (pg_last_wal_replay_lsn() - '0/0')::int8 end as wal`

/** Why the second is not a standby of the first that can be read from; null if it is. */
export function whyOther(primary: Position, standby: Position): string | null {
  if (primary.system !== standby.system || standby.wal === null) return 'It is not a standby of the primary.'
  if (primary.database !== standby.database) return `It is the database ${standby.database}, not ${primary.database}.`
  // Row-level security may not apply to another role.
  if (primary.role !== standby.role) return `Its user is ${standby.role}, not ${primary.role}.`
  if (primary.timeline !== standby.timeline) {
    return 'It has no checkpoint since the last failover. If it follows the new primary, it gets one within minutes.'
  }
  return null
}
