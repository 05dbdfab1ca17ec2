import { testEventType, updateEventType } from '@parley/contract/events'
import type { Db } from '../../../db/db.ts'
import { oneInIndexOrder, oneWithIndexLookups } from '../../../db/planner-settings.ts'
import { statement } from '../../../db/statement.ts'
import type { Cursor } from './cursor.ts'

/** What to read of a workspace. */
export interface PageInput {
  workspaceId: string
  /** Null: every type except types that readers have to name. */
  types: readonly string[] | null
  limit: number
  /** How many events may be looked at. Those of other types count too. */
  scanLimit: number
  /** How many bytes the events may have together. The first one may have more. */
  maxBytes: number
}

export interface PageRow {
  id: string
  body: Buffer
  position: string
  createdAt: Date
}

/** The facts that a statement returns with its rows. */
export interface PageFacts {
  /** The position that the next transaction gets. */
  nextPosition: string
  /** The name of the oldest partition. */
  oldest: string | null
  /** How many events were looked at. */
  scanned: number
  /** How many of them match, including events beyond the limit. */
  matches: number
  /** The last event that was read. */
  last: { id: string; position: string; createdAt: string } | null
  /** The time of the oldest event that cannot be read yet, because an older transaction is open. Null if there is none. */
  heldFrom: string | null
}

export interface PageRead {
  facts: PageFacts
  rows: PageRow[]
}

/**
 * All transactions below it have ended. Events from there on are not returned yet: an older transaction may still add events
 * that come first. As a subquery it is computed once, not for each row.
 */
const horizon = '(select event_position(pg_snapshot_xmin(pg_current_snapshot())))'

/**
 * One page: `scanned` reads events in their order. Those below the horizon that match are returned with their bodies. Always at
 * least one row, which has the facts.
 */
const page = statement(
  {
    workspaceId: 'uuid',
    types: 'text',
    limit: 'int',
    scanLimit: 'int',
    maxBytes: 'int',
    afterPosition: 'text',
    afterId: 'uuid',
  },
  ({ workspaceId, types, limit, scanLimit, maxBytes, afterPosition, afterId }) => `with scanned as materialized (
       select s.*, row_number() over (order by position, id) as place, position < ${horizon} as is_readable from (
         select e.id, e.created_at, e.position, e.type, octet_length(e.body) as size from events e
         where e.workspace_id = ${workspaceId} and (e.position, e.id) > (${afterPosition}::bigint, ${afterId})
         order by e.position, e.id limit ${scanLimit}) as s
     ), matching as materialized (
       select s.*, row_number() over (order by place) as n, sum(size) over (order by place) as bytes from scanned s
       where is_readable and case when ${types} is null then s.type not in ('${testEventType}', '${updateEventType}')
         else s.type = any(string_to_array(${types}, ',')) end
     ), facts as (
       select event_position(pg_snapshot_xmax(pg_current_snapshot()))::text as "nextPosition",
         (select min(c.relname::text) from pg_inherits i join pg_class c on c.oid = i.inhrelid
           where i.inhparent = 'events'::regclass and not i.inhdetachpending) as oldest,
         count(*) filter (where is_readable)::int as scanned, (select count(*) from matching)::int as matches,
         min(created_at) filter (where not is_readable) as "heldFrom",
         (select jsonb_build_object('id', id, 'position', position::text, 'createdAt', created_at)
           from (select * from scanned where is_readable order by place desc limit 1) as l) as last
       from scanned
     )
     select case when coalesce(m.n, 1) = 1 then to_jsonb(f) end as facts, m.id, b.body, m.position::text as position,
       m.created_at as "createdAt"
     from facts f left join matching m on m.n <= ${limit} and (m.bytes <= ${maxBytes} or m.n = 1)
     left join lateral (
       select e.body from events e
       where e.workspace_id = ${workspaceId} and e.id = m.id and e.created_at = m.created_at limit 1) as b on true
     order by m.n`,
)

type FoundRow = Omit<PageRow, 'id'> & { id: string | null; facts: PageFacts | null }

/** The events after a place, in their order. */
export async function readPage(db: Db, input: PageInput, { position, id }: Cursor): Promise<PageRead> {
  const types = input.types?.join(',') ?? null
  const values = { ...input, types, afterPosition: String(position), afterId: id }
  const found = await oneInIndexOrder(db, (tx) => page.rows<FoundRow>(tx, values))
  const facts = found[0]?.facts
  if (!facts) throw new Error('the statement returned no row')
  return { facts, rows: found.filter((row): row is FoundRow & PageRow => row.id !== null) }
}

const newest = statement(
  { workspaceId: 'uuid' },
  ({ workspaceId }) => `select e.position::text as position from events e
     where e.workspace_id = ${workspaceId} and e.position < ${horizon} order by e.position desc limit 1`,
)

/** The position of the newest event that can be read. */
export const readNewest = async (db: Db, workspaceId: string): Promise<bigint> => {
  const found = await oneInIndexOrder(db, (tx) => newest.first<{ position: string }>(tx, { workspaceId }))
  return BigInt(found?.position ?? 0)
}

/** The types of new events of a workspace. */
export interface NewTypes {
  workspaceId: string
  types: string[]
  /** Whether there may be more. */
  isPartial: boolean
  lastPosition: string | null
  /** Whether there are events that cannot be read yet. */
  isHeld: boolean
}

/** Enough for the events of the time between two looks. With more, every reader of the workspace is woken. */
const peekLimit = 200

const peek = statement(
  { workspaces: { id: 'uuid', after: 'text' } },
  ({ workspaces }) => `select w.id as "workspaceId", coalesce(f.types, '{}') as types,
       f.count >= ${peekLimit} as "isPartial", f.last as "lastPosition",
       exists (select from events e where e.workspace_id = w.id and e.position >= ${horizon}) as "isHeld"
     from (select * from ${workspaces}) as w cross join lateral (
       select array_agg(distinct e.type) as types, count(*) as count, max(e.position)::text as last from (
         select e.type, e.position from events e
         where e.workspace_id = w.id and e.position > w.after::bigint and e.position < ${horizon}
         limit ${peekLimit}) as e) as f`,
)

/** For each workspace, the types of the events after a position. It sees all workspaces. */
export const readNewTypes = (db: Db, readers: readonly { workspaceId: string; after: bigint }[]): Promise<NewTypes[]> =>
  oneWithIndexLookups(db, (tx) =>
    peek.rows<NewTypes>(tx, {
      workspaces: readers.map(({ workspaceId, after }) => ({ id: workspaceId, after: String(after) })),
    }),
  )
