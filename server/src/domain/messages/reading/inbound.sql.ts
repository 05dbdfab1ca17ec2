import { countOf } from '../../../db/bounded-total.ts'
import type { Db } from '../../../db/db.ts'
import type { KeySet } from '../../../lib/key-set.ts'
import { keyword } from './console-list.sql.ts'
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
  parent_user_id: string | null
}

const columns = `id, recorded_at, received_at, sender_id, wa_message_id, sent_by, sent_by_user_id, profile_name, type,
  content ->> 'groupId' as group_id, content ->> 'parentUserId' as parent_user_id, ${contentColumns}`

/** The conditions of a list; undefined ones are ignored. */
export interface InboundSearch {
  workspaceId: string
  senderId: string | undefined
  from: string | undefined
  type: string | undefined
  receivedAfter: string | undefined
  receivedBefore: string | undefined
}

/** Adds a value to the parameters of a statement, and returns its placeholder. */
type AddParam = (value: unknown) => string

/** Nearly every message is recorded soon after it was sent. An index has the others: `inbound_messages_untimely`. */
const isTimely = `m.recorded_at - m.received_at between interval '-1 hour' and interval '1 hour'`

/**
 * The parts of a search, each of which an index has in the order of the list. A part has only the conditions that are set, so
 * that each combination gets its own plan. The list is in the order of recording: a range of `received_at` is one of `recorded_at`
 * that is two hours longer, and the messages that are not timely.
 */
function partsOf(search: InboundSearch, param: AddParam): string[] {
  const { workspaceId, senderId, from, type, receivedAfter, receivedBefore } = search
  const conditions = [`m.workspace_id = ${param(workspaceId)}::uuid`, 'm.source is null']
  if (senderId !== undefined) conditions.push(`m.sender_id = ${param(senderId)}::uuid`)
  if (from !== undefined) conditions.push(`m.sent_by = ${param(from)}::text`)
  // A literal, because a partial index is only used if the statement names the value.
  if (type !== undefined) conditions.push(`m.type = '${keyword(type)}'`)
  const timely: string[] = []
  if (receivedAfter !== undefined) {
    const after = `${param(receivedAfter)}::timestamptz`
    conditions.push(`m.received_at > ${after}`)
    timely.push(`m.recorded_at > ${after} - interval '1 hour'`)
  }
  if (receivedBefore !== undefined) {
    const before = `${param(receivedBefore)}::timestamptz`
    conditions.push(`m.received_at < ${before}`)
    timely.push(`m.recorded_at < ${before} + interval '1 hour'`)
  }
  const partWith = (more: readonly string[]) => `inbound_messages m where ${[...conditions, ...more].join(' and ')}`
  return timely.length === 0 ? [partWith([])] : [partWith([...timely, isTimely]), partWith([`not (${isTimely})`])]
}

/** One page of the messages, in the order in which they were recorded. */
export function inboundOf(db: Db, search: InboundSearch, { take, after, order }: KeySet): Promise<InboundRow[]> {
  const values: unknown[] = []
  const param: AddParam = (value) => `$${values.push(value)}`
  const parts = partsOf(search, param)
  const ordered = `order by recorded_at ${order}, id ${order} limit ${param(take)}::int`
  const follows = after === null ? '' : followsCursor(after, order, param)
  const pages = parts.map((part) => `(select ${columns} from ${part} ${follows} ${ordered})`)
  return db.rows(`select page.* from (${pages.join(' union all ')}) as page ${ordered}`, values)
}

/**
 * Has a condition for the time alone too: PostgreSQL begins to read an index there, and not at the row of the cursor. The time of
 * a cursor is in milliseconds.
 */
function followsCursor({ at, id }: { at: Date; id: string }, order: KeySet['order'], param: AddParam): string {
  const [time, isAfter] = [`${param(at)}::timestamptz`, order === 'desc' ? '<' : '>']
  const from = order === 'desc' ? `< ${time} + interval '1 millisecond'` : `>= ${time}`
  return `and m.recorded_at ${from} and (m.recorded_at, m.id) ${isAfter} (${time}, ${param(id)}::uuid)`
}

/** How many messages match, at most `atMost`. */
export async function countInbound(db: Db, search: InboundSearch, atMost: number): Promise<number> {
  const values: unknown[] = []
  const param: AddParam = (value) => `$${values.push(value)}`
  const matching = partsOf(search, param).map((part) => `select 1 from ${part}`)
  const counting = countOf(matching.join(' union all '), `${param(atMost)}::int`)
  return (await db.first<{ count: number }>(counting, values))?.count ?? 0
}

export const inboundById = (db: Db, workspaceId: string, id: string): Promise<InboundRow | undefined> =>
  db.first(`select ${columns} from inbound_messages where workspace_id = $1 and id = $2 and source is null`, [
    workspaceId,
    id,
  ])
