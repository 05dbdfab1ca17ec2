import type { Db } from '../../../db/db.ts'
import type { KeySet } from '../../../lib/key-set.ts'
import { allSenders, allTypes } from './inbound-blocks.sql.ts'
import { contentColumns, type StoredContent } from './timeline.sql.ts'

export interface InboundRow extends StoredContent {
  id: string
  recorded_at: Date
  received_at: Date
  sender_id: string
  wa_message_id: string
  sent_by: string | null
  sent_by_user_id: string | null
  profile_name: string | null
  type: string
  group_id: string | null
}

const columns = `id, recorded_at, received_at, sender_id, wa_message_id, sent_by, sent_by_user_id, profile_name, type,
  content ->> 'groupId' as group_id, ${contentColumns}`

/** The conditions of a list; undefined ones are ignored. */
export interface InboundSearch {
  workspaceId: string
  senderId: string | undefined
  from: string | undefined
  type: string | undefined
  receivedAfter: string | undefined
  receivedBefore: string | undefined
}

/** Messages recorded at `firstAt` or later, and before `endAt`. */
export interface TimeRange {
  firstAt: Date | '-infinity'
  endAt: Date | 'infinity'
}

/** Adds a value to the parameters of a statement, and returns its placeholder. */
type AddParam = (value: unknown) => string

/**
 * The messages of a search: the part of a statement after FROM. It has only the conditions that are set, so that each combination
 * gets its own plan. With `offset 0`, PostgreSQL finds the messages of a person by the person, and does not look for them by time.
 */
function messagesOf(search: InboundSearch, param: AddParam): string {
  const { workspaceId, senderId, from, type, receivedAfter, receivedBefore } = search
  const conditions = [`m.workspace_id = ${param(workspaceId)}::uuid`]
  const ofPerson =
    from === undefined
      ? ''
      : `(select * from inbound_messages m where ${conditions[0]} and m.sent_by = ${param(from)}::text offset 0) as`
  if (senderId !== undefined) conditions.push(`m.sender_id = ${param(senderId)}::uuid`)
  if (type !== undefined) conditions.push(`m.type = ${param(type)}::text`)
  if (receivedAfter !== undefined) conditions.push(`m.received_at > ${param(receivedAfter)}::timestamptz`)
  if (receivedBefore !== undefined) conditions.push(`m.received_at < ${param(receivedBefore)}::timestamptz`)
  return `${ofPerson || 'inbound_messages'} m where ${conditions.join(' and ')}`
}

/** One page of the messages in these ranges of time, in the order in which they were recorded. */
export function inboundIn(
  db: Db,
  search: InboundSearch,
  inRanges: readonly TimeRange[],
  { take, after, order }: KeySet,
): Promise<InboundRow[]> {
  const ranges = after === null ? inRanges : inRanges.map((range) => fromCursor(range, after.at, order))
  const values: unknown[] = []
  const param: AddParam = (value) => `$${values.push(value)}`
  const messages = messagesOf(search, param)
  const starts = param(ranges.map(({ firstAt }) => firstAt))
  const ends = param(ranges.map(({ endAt }) => endAt))
  const limit = param(take)
  const follows =
    after === null
      ? ''
      : `and (m.recorded_at, m.id) ${order === 'desc' ? '<' : '>'} (${param(after.at)}::timestamptz, ${param(after.id)}::uuid)`
  const ordered = `order by recorded_at ${order}, id ${order} limit ${limit}::int`
  return db.rows(
    `select page.* from unnest(${starts}::timestamptz[], ${ends}::timestamptz[]) as r(first_at, end_at)
     cross join lateral (
       select ${columns} from ${messages}
         and m.recorded_at >= r.first_at and m.recorded_at < r.end_at ${follows} ${ordered}
     ) as page ${ordered}`,
    values,
  )
}

/**
 * A range from the time of the cursor on. PostgreSQL begins to read an index at the end of the range, not at the row of the cursor: it would read all
 * entries in between.
 */
function fromCursor({ firstAt, endAt }: TimeRange, at: Date, order: KeySet['order']): TimeRange {
  if (order === 'asc') return { firstAt: firstAt === '-infinity' || firstAt < at ? at : firstAt, endAt }
  const afterCursor = new Date(at.getTime() + 1)
  return { firstAt, endAt: endAt === 'infinity' || endAt > afterCursor ? afterCursor : endAt }
}

/** The row of each block that counts what the search is looking for, if the block may have such messages. */
function blocksOf({ workspaceId, senderId, type, receivedAfter, receivedBefore }: InboundSearch, param: AddParam) {
  const conditions = [
    `b.workspace_id = ${param(workspaceId)}::uuid`,
    `b.sender_id = ${param(senderId ?? allSenders)}::uuid`,
    `b.type = ${param(type ?? allTypes)}::text`,
  ]
  const whole = ['true']
  if (receivedAfter !== undefined) {
    const after = `${param(receivedAfter)}::timestamptz`
    conditions.push(`b.last_received_at > ${after}`)
    whole.push(`b.first_received_at > ${after}`)
  }
  if (receivedBefore !== undefined) {
    const before = `${param(receivedBefore)}::timestamptz`
    conditions.push(`b.first_received_at < ${before}`)
    whole.push(`b.last_received_at < ${before}`)
  }
  return { matches: conditions.join(' and '), isWhole: whole.join(' and ') }
}

/**
 * The next blocks that may have messages of the search, in the order of the list: as many as certainly have `take` messages, and
 * at most `take`. Newest first, they begin before `bound`; oldest first, they end after it.
 */
export function blocksWith(
  db: Db,
  search: InboundSearch,
  { order, bound, take, counted }: { order: KeySet['order']; bound: Date | null; take: number; counted: Date },
): Promise<{ firstAt: Date; endAt: Date }[]> {
  const values: unknown[] = []
  const param: AddParam = (value) => `$${values.push(value)}`
  const { matches, isWhole } = blocksOf(search, param)
  const follows =
    bound === null ? '' : `and ${order === 'desc' ? 'b.first_at <' : 'b.end_at >'} ${param(bound)}::timestamptz`
  const limit = `${param(take)}::int`
  // A block that was counted meanwhile has messages that were read as recent ones.
  const isCounted = `b.first_at < ${param(counted)}::timestamptz`
  return db.rows(
    `select first_at as "firstAt", end_at as "endAt" from (
       select b.first_at, b.end_at, sum(certain.messages) over (order by b.first_at ${order}) - certain.messages as earlier
       from inbound_blocks b cross join lateral (select case when ${isWhole} then b.messages else 0 end as messages) as certain
       where ${matches} and ${isCounted} ${follows}
     ) as summed
     where earlier < ${limit} order by first_at ${order} limit ${limit}`,
    values,
  )
}

/**
 * Counts the messages of a search. With `counted`, those recorded before it are counted from their blocks; only blocks in
 * which some messages match the times of the search, and others do not, are read.
 */
export async function countInbound(db: Db, search: InboundSearch, counted: Date | null): Promise<number> {
  const values: unknown[] = []
  const param: AddParam = (value) => `$${values.push(value)}`
  const messages = `select count(*) as total from ${messagesOf(search, param)}`
  if (counted === null) return totalOf(await db.first(messages, values))
  const until = `${param(counted)}::timestamptz`
  const blocks = blocksOf(search, param)
  return totalOf(
    await db.first(
      `select (${messages} and m.recorded_at >= ${until}) + (
         select coalesce(sum(case when ${blocks.isWhole} then b.messages
           else (${messages} and m.recorded_at >= b.first_at and m.recorded_at < b.end_at) end), 0)
         from inbound_blocks b where ${blocks.matches} and b.first_at < ${until}
       )::bigint as total`,
      values,
    ),
  )
}

const totalOf = (row: { total: number } | undefined): number => row?.total ?? 0

export const inboundById = (db: Db, workspaceId: string, id: string): Promise<InboundRow | undefined> =>
  db.first(`select ${columns} from inbound_messages where workspace_id = $1 and id = $2`, [workspaceId, id])
