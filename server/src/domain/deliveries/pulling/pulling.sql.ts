import { testEventType } from '@parley/contract/events'
import type { Db } from '../../../db/db.ts'
import { oneInIndexOrder, oneWithIndexLookups } from '../../../db/planner-settings.ts'
import { type Places, statement } from '../../../db/statement.ts'
import { serverSql } from './history.sql.ts'
import type { Place } from './position.ts'

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
}

/** What a statement says besides its rows. */
export interface PageFacts {
  system: string
  timeline: number
  /** The ID that the next transaction gets. */
  nextTransactionId: string
  /** The name of the oldest partition. */
  oldest: string | null
  /** How many events were looked at. */
  scanned: number
  /** How many of them match, also beyond the limit. */
  matches: number
  /** The last one that was looked at. */
  last: Pick<PageRow, 'id' | 'transactionId' | 'createdAt'> | null
  /** The time of the oldest event that cannot be read yet, because an older transaction is open. Null if there is none. */
  heldFrom: Date | null
}

export interface PageRead {
  facts: PageFacts
  rows: PageRow[]
}

/**
 * All transactions below it have ended. Events from there on are not returned yet: an older transaction may still add events
 * that come first. As a subquery it is computed once, not for each row.
 */
const horizon = '(select pg_snapshot_xmin(pg_current_snapshot()))'

const parameters = {
  workspaceId: 'uuid',
  types: 'text',
  limit: 'int',
  scanLimit: 'int',
  maxBytes: 'int',
  afterId: 'uuid',
} as const

/**
 * One page: `scanned` reads events in the order `order`. Of those that can be read, the ones that satisfy `condition` are returned
 * with their bodies. Always at least one row, which has the facts.
 */
const pageSql = (
  { workspaceId, types, limit, scanLimit, maxBytes }: Places<typeof parameters>,
  { scanned, order, isReadable, condition }: Record<'scanned' | 'order' | 'isReadable' | 'condition', string>,
): string => `with scanned as materialized (
       select s.*, row_number() over (order by ${order}) as place, ${isReadable} as is_readable from (
         select e.id, e.created_at, e.transaction_id, e.type, octet_length(e.body) as size from events e
         where e.workspace_id = ${workspaceId} and ${scanned} order by ${order} limit ${scanLimit}) as s
     ), matching as materialized (
       select s.*, row_number() over (order by place) as n, sum(size) over (order by place) as bytes from scanned s
       where is_readable and ${condition} and case when ${types} is null then s.type <> '${testEventType}'
         else s.type = any(string_to_array(${types}, ',')) end
     ), facts as (
       select ${serverSql}, pg_snapshot_xmax(pg_current_snapshot())::text as "nextTransactionId",
         (select min(c.relname::text) from pg_inherits i join pg_class c on c.oid = i.inhrelid
           where i.inhparent = 'events'::regclass and not i.inhdetachpending) as oldest,
         count(*) filter (where is_readable)::int as scanned, (select count(*) from matching)::int as matches,
         min(created_at) filter (where not is_readable) as "heldFrom",
         (select jsonb_build_object('id', id, 'transactionId', transaction_id::text, 'createdAt', created_at)
           from (select * from scanned where is_readable order by place desc limit 1) as l) as last
       from scanned
     )
     select case when coalesce(m.n, 1) = 1 then to_jsonb(f) end as facts, m.id, b.body,
       m.transaction_id::text as "transactionId", m.created_at as "createdAt"
     from facts f left join matching m on m.n <= ${limit} and (m.bytes <= ${maxBytes} or m.n = 1)
     left join lateral (
       select e.body from events e
       where e.workspace_id = ${workspaceId} and e.id = m.id and e.created_at = m.created_at limit 1) as b on true
     order by m.n`

/** The first condition lets PostgreSQL use the index, which is partial. */
const live = statement({ ...parameters, after: 'text' }, (param) =>
  pageSql(param, {
    scanned: `e.transaction_id >= ${param.after}::xid8 and (e.transaction_id, e.id) > (${param.after}::xid8, ${param.afterId})`,
    order: 'transaction_id, id',
    isReadable: `transaction_id < ${horizon}`,
    condition: 'true',
  }),
)

/** If the event itself was deleted, with its day or its person, it begins at `since`. */
const old = statement({ ...parameters, until: 'timestamptz', since: 'timestamptz' }, (param) =>
  pageSql(param, {
    scanned: `e.created_at < ${param.until} and (e.created_at, e.id) > (
      coalesce((select created_at from events where workspace_id = ${param.workspaceId} and id = ${param.afterId}), ${param.since}),
      ${param.afterId})`,
    order: 'created_at, id',
    isReadable: 'true',
    condition: 's.transaction_id is null',
  }),
)

type FoundRow = Omit<PageRow, 'id'> & { id: string | null; facts: JsonFacts | null }

/** Times in JSON are texts. */
type JsonFacts = Omit<PageFacts, 'heldFrom' | 'last'> & {
  heldFrom: string | null
  last: (Pick<PageRow, 'id' | 'transactionId'> & { createdAt: string }) | null
}

function pageOf(found: readonly FoundRow[]): PageRead {
  const facts = found[0]?.facts
  if (!facts) throw new Error('the statement returned no row')
  const { last, heldFrom } = facts
  return {
    facts: {
      ...facts,
      heldFrom: heldFrom === null ? null : new Date(heldFrom),
      last: last && { ...last, createdAt: new Date(last.createdAt) },
    },
    rows: found.filter((row): row is FoundRow & PageRow => row.id !== null),
  }
}

const valuesOf = ({ types, ...input }: PageInput, { id }: Place) => ({
  ...input,
  types: types?.join(',') ?? null,
  afterId: id,
})

/** The events after a place, in the order of their transactions. */
export const readLive = async (db: Db, input: PageInput, place: Place): Promise<PageRead> =>
  pageOf(
    await oneInIndexOrder(db, (tx) =>
      live.rows<FoundRow>(tx, { ...valuesOf(input, place), after: String(place.transactionId) }),
    ),
  )

/** The events after a place among those without a transaction ID. They were created before `until`, all unread ones after `since`. */
export const readOld = async (
  db: Db,
  input: PageInput,
  place: Place,
  times: { until: Date; since: Date },
): Promise<PageRead> =>
  pageOf(await oneInIndexOrder(db, (tx) => old.rows<FoundRow>(tx, { ...valuesOf(input, place), ...times })))

export interface Newest {
  system: string
  timeline: number
  transactionId: string | null
}

const newest = statement(
  { workspaceId: 'uuid' },
  ({ workspaceId }) => `select ${serverSql}, (
       select e.transaction_id::text from events e where e.workspace_id = ${workspaceId} and e.transaction_id < ${horizon}
       order by e.transaction_id desc limit 1) as "transactionId"`,
)

/** The transaction of the newest event that can be read. */
export const readNewest = async (db: Db, workspaceId: string): Promise<Newest> =>
  (await oneInIndexOrder(db, (tx) => newest.first<Newest>(tx, { workspaceId }))) as Newest

/** The types of new events of a workspace. */
export interface NewTypes {
  workspaceId: string
  types: string[]
  /** Whether there may be more. */
  isPartial: boolean
  lastTransactionId: string | null
  /** Whether there are events that cannot be read yet. */
  isHeld: boolean
}

/** Enough for the events of the time between two looks. With more, every reader of the workspace is woken. */
const peekLimit = 200

const peek = statement(
  { workspaces: { id: 'uuid', after: 'text' } },
  ({ workspaces }) => `select w.id as "workspaceId", coalesce(f.types, '{}') as types,
       f.count >= ${peekLimit} as "isPartial", f.last as "lastTransactionId",
       exists (select from events e where e.workspace_id = w.id and e.transaction_id >= ${horizon}) as "isHeld"
     from (select * from ${workspaces}) as w cross join lateral (
       select array_agg(distinct e.type) as types, count(*) as count, max(e.transaction_id)::text as last from (
         select e.type, e.transaction_id from events e
         where e.workspace_id = w.id and e.transaction_id > w.after::xid8 and e.transaction_id < ${horizon}
         limit ${peekLimit}) as e) as f`,
)

/** For each workspace, the types of the events after a transaction. It sees all workspaces. */
export const readNewTypes = (db: Db, readers: readonly { workspaceId: string; after: bigint }[]): Promise<NewTypes[]> =>
  oneWithIndexLookups(db, (tx) =>
    peek.rows<NewTypes>(tx, {
      workspaces: readers.map(({ workspaceId, after }) => ({ id: workspaceId, after: String(after) })),
    }),
  )
