import type { Db } from '../../../db/db.ts'

/** Held by the process that moves messages; the others skip it. */
const moveLock = 7_215_402

export const lockMoving = async (tx: Db): Promise<boolean> =>
  (await tx.first<{ held: boolean }>('select pg_try_advisory_xact_lock($1::bigint) as held', [moveLock]))?.held ?? false

/** Keeps messages from being moved until the transaction ends. A statement would miss a message that is moved while it runs. */
export const holdMoving = (tx: Db): Promise<unknown> =>
  tx.rows('select pg_advisory_xact_lock_shared($1::bigint)', [moveLock])

export interface InboundTables {
  /** The size of the table of recent messages, without indexes. */
  recentBytes: number
  /** The newest table of older messages. */
  older: { name: string; bytes: number } | null
}

export async function inboundTables(db: Db): Promise<InboundTables> {
  const row = await db.first<{ recent: number; name: string | null; bytes: number }>(
    `select pg_relation_size('inbound_messages') as recent, c.relname as name, pg_relation_size(c.oid) as bytes
     from (values (1)) as one left join (pg_inherits i join pg_class c on c.oid = i.inhrelid)
       on i.inhparent = 'inbound_messages'::regclass
     order by substring(c.relname from '\\d+$')::int desc limit 1`,
  )
  const { recent = 0, name = null, bytes = 0 } = row ?? {}
  return { recentBytes: recent, older: name === null ? null : { name, bytes } }
}

export const addOlderTable = (db: Db): Promise<unknown> => db.rows('select add_older_inbound_messages()')

export interface MoveRange {
  /** Messages recorded before this time. */
  before: Date
  /** The IDs of the time range. */
  firstId: string
  endId: string
  take: number
}

/**
 * Moves the oldest messages of the range to a table of older messages, in one statement: every other statement sees each of
 * them once. Finds them by their IDs, which begin with the time, because no index has the time alone.
 */
export const moveMessages = async (
  db: Db,
  table: string,
  { before, firstId, endId, take }: MoveRange,
): Promise<{ moved: number; lastId: string | null }> => {
  const row = await db.first<{ moved: number; lastId: string | null }>(
    `with old as materialized (
       select id from only inbound_messages where id >= $1 and id < $2 and recorded_at < $3 order by id limit $4
     ), moved as (
       delete from only inbound_messages where id = any(array(select id from old)) returning *
     ), stored as (
       insert into ${table} select * from moved order by id
     )
     select (select count(*) from moved)::int as moved, (select id from old order by id desc limit 1) as "lastId"`,
    [firstId, endId, before, take],
  )
  return row ?? { moved: 0, lastId: null }
}
