import { testEventType } from '@parley/contract/events'
import type { Db } from '../../../db/db.ts'
import { oneInIndexOrder, oneWithIndexLookups } from '../../../db/planner-settings.ts'
import { type Places, statement } from '../../../db/statement.ts'
import { serverSql } from './history.sql.ts'
import type { LivePosition, OldPosition } from './position.ts'

/** What to read of a workspace. */
export interface PageInput {
  workspaceId: string
  /** Null: every type. */
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
  transactionId: string | null
  createdAt: Date
  createdAtUs: number
}

/** What a statement says besides its rows. */
export interface PageFacts {
  system: string
  timeline: number
  /** `pg_current_snapshot()`. */
  snapshot: string
  /** The name of the oldest partition. */
  oldest: string | null
  /** How many events were looked at. */
  scanned: number
  /** How many of them match, also beyond the limit. */
  matches: number
  /** The last one that was looked at. */
  lastId: string | null
  lastTransactionId: string | null
  lastAt: Date | null
  lastAtUs: number | null
}

export interface PageRead {
  facts: PageFacts
  rows: PageRow[]
}

const parameters = {
  workspaceId: 'uuid',
  types: 'text',
  limit: 'int',
  scanLimit: 'int',
  maxBytes: 'int',
} as const

const microseconds = (column: string): string => `(extract(epoch from ${column}) * 1000000)::float8`

/**
 * One page: `scanned` reads events (id, created_at, transaction_id, type, size) in the order `order`, and those that satisfy
 * `condition` are returned with their bodies. Always at least one row, which has the facts.
 */
const pageSql = (
  { workspaceId, types, limit, scanLimit, maxBytes }: Places<typeof parameters>,
  { scanned, order, condition }: { scanned: string; order: string; condition: string },
): string => `with scanned as materialized (${scanned}),
     looked_at as materialized (
       select s.*, row_number() over (order by ${order}) as place from scanned s order by ${order} limit ${scanLimit}
     ), matching as materialized (
       select s.*, row_number() over (order by place) as n, sum(size) over (order by place) as bytes from looked_at s
       where ${condition} and case when ${types} is null then s.type <> '${testEventType}'
         else s.type = any(string_to_array(${types}, ',')) end
     ), facts as (
       select ${serverSql}, pg_current_snapshot()::text as snapshot,
         (select min(c.relname::text) from pg_inherits i join pg_class c on c.oid = i.inhrelid
           where i.inhparent = 'events'::regclass and not i.inhdetachpending) as oldest,
         (select count(*) from looked_at)::int as scanned, (select count(*) from matching)::int as matches,
         l.id as "lastId", l.transaction_id::text as "lastTransactionId", l.created_at as "lastAt",
         ${microseconds('l.created_at')} as "lastAtUs"
       from (select 1) as one left join (select * from looked_at order by place desc limit 1) as l on true
     )
     select case when coalesce(m.n, 1) = 1 then to_jsonb(f) end as facts, m.id, b.body,
       m.transaction_id::text as "transactionId", m.created_at as "createdAt", ${microseconds('m.created_at')} as "createdAtUs"
     from facts f left join matching m on m.n <= ${limit} and (m.bytes <= ${maxBytes} or m.n = 1)
     left join lateral (
       select e.body from events e
       where e.workspace_id = ${workspaceId} and e.id = m.id and e.created_at = m.created_at limit 1) as b on true
     order by m.n`

const columns = 'e.id, e.created_at, e.transaction_id, e.type, octet_length(e.body) as size'

/** A range of one transaction, because PostgreSQL would otherwise find the order of IDs in another index. */
const live = statement({ ...parameters, next: 'text', openIds: 'text[]', openAfter: 'text[]' }, (param) =>
  pageSql(param, {
    scanned: `(select e.* from unnest(${param.openIds}, ${param.openAfter}) as o(transaction_id, after)
         cross join lateral (
           select ${columns} from events e
           where e.workspace_id = ${param.workspaceId} and e.transaction_id >= o.transaction_id::xid8
             and e.transaction_id <= o.transaction_id::xid8 and (o.after = '' or e.id > nullif(o.after, '')::uuid)
           order by e.transaction_id, e.id limit ${param.scanLimit}) as e)
       union all
       (select ${columns} from events e
        where e.workspace_id = ${param.workspaceId} and e.transaction_id >= ${param.next}::xid8
        order by e.transaction_id, e.id limit ${param.scanLimit})`,
    order: 's.transaction_id, s.id',
    condition: 'true',
  }),
)

const old = statement({ ...parameters, atUs: 'float8', id: 'uuid', untilUs: 'float8' }, (param) =>
  pageSql(param, {
    scanned: `select ${columns} from events e
       where e.workspace_id = ${param.workspaceId} and e.created_at < ${timeOf(param.untilUs)}
         and (e.created_at, e.id) > (${timeOf(param.atUs)}, ${param.id})
       order by e.created_at, e.id limit ${param.scanLimit}`,
    order: 's.created_at, s.id',
    condition: 's.transaction_id is null',
  }),
)

function timeOf(microsecond: string): string {
  return `(timestamptz 'epoch' + ${microsecond} * interval '1 microsecond')`
}

type FoundRow = Omit<PageRow, 'id'> & {
  id: string | null
  facts: (Omit<PageFacts, 'lastAt'> & { lastAt: string | null }) | null
}

function pageOf(found: readonly FoundRow[]): PageRead {
  const facts = found[0]?.facts
  if (!facts) throw new Error('the statement returned no row')
  return {
    facts: { ...facts, lastAt: facts.lastAt === null ? null : new Date(facts.lastAt) },
    rows: found.filter((row): row is FoundRow & PageRow => row.id !== null),
  }
}

const valuesOf = ({ types, ...input }: PageInput) => ({ ...input, types: types?.join(',') ?? null })

/** The events after a position, in the order of their transactions. */
export const readLive = async (db: Db, input: PageInput, { next, open }: LivePosition): Promise<PageRead> =>
  pageOf(
    await oneInIndexOrder(db, (tx) =>
      live.rows<FoundRow>(tx, {
        ...valuesOf(input),
        next: String(next),
        openIds: open.map(({ id }) => String(id)),
        openAfter: open.map(({ after }) => after ?? ''),
      }),
    ),
  )

/** The events after a position among those without a transaction ID. */
export const readOld = async (
  db: Db,
  input: PageInput,
  { atUs, id }: OldPosition,
  untilUs: number,
): Promise<PageRead> =>
  pageOf(await oneInIndexOrder(db, (tx) => old.rows<FoundRow>(tx, { ...valuesOf(input), atUs, id, untilUs })))

export interface Newest {
  system: string
  timeline: number
  snapshot: string
  transactionId: string | null
}

const newest = statement(
  { workspaceId: 'uuid' },
  ({ workspaceId }) => `select ${serverSql}, pg_current_snapshot()::text as snapshot, (
       select e.transaction_id::text from events e where e.workspace_id = ${workspaceId} and e.transaction_id is not null
       order by e.transaction_id desc limit 1) as "transactionId"`,
)

/** The transaction of the newest event. */
export const readNewest = async (db: Db, workspaceId: string): Promise<Newest> =>
  (await oneInIndexOrder(db, (tx) => newest.first<Newest>(tx, { workspaceId }))) as Newest

/** The types of new events of a workspace. */
export interface NewTypes {
  workspaceId: string
  types: string[]
  /** Whether there may be more. */
  isPartial: boolean
  lastTransactionId: string | null
  snapshot: string
}

/** Enough for the events of the time between two looks. With more, every reader of the workspace is woken. */
const peekLimit = 200

const peek = statement(
  { workspaces: { id: 'uuid', next: 'text', open: 'text' } },
  ({ workspaces }) => `select w.id as "workspaceId", coalesce(f.types, '{}') as types,
       f.count >= ${peekLimit} as "isPartial", f.last as "lastTransactionId", pg_current_snapshot()::text as snapshot
     from (select * from ${workspaces}) as w cross join lateral (
       select array_agg(distinct e.type) as types, count(*) as count, max(e.transaction_id)::text as last from (
         (select e.type, e.transaction_id from unnest(string_to_array(w.open, ',')) as o(id) cross join lateral (
           select e.type, e.transaction_id from events e
           where e.workspace_id = w.id and e.transaction_id = o.id::xid8 limit ${peekLimit}) as e)
         union all
         (select e.type, e.transaction_id from events e
          where e.workspace_id = w.id and e.transaction_id >= w.next::xid8 limit ${peekLimit})) as e) as f`,
)

/** For each workspace, the types of the events after a position. It sees all workspaces. */
export const readNewTypes = (
  db: Db,
  readers: readonly { workspaceId: string; position: LivePosition }[],
): Promise<NewTypes[]> =>
  oneWithIndexLookups(db, (tx) =>
    peek.rows<NewTypes>(tx, {
      workspaces: readers.map(({ workspaceId, position: { next, open } }) => ({
        id: workspaceId,
        next: String(next),
        open: open.map(({ id }) => id).join(','),
      })),
    }),
  )
