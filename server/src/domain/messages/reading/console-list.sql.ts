import type { Direction } from '@parley/contract/console/messages'
import type { EchoSource } from '@parley/contract/inbound'
import type { MessageStatus } from '@parley/contract/message'
import type { Db } from '../../../db/db.ts'
import type { KeySet } from '../../../lib/key-set.ts'
import { isChange } from './timeline.sql.ts'

/** The conditions of a search; undefined ones are ignored. Some apply to sent messages only. */
export interface MessageSearch {
  direction?: Direction | undefined
  ids?: readonly string[] | undefined
  senderIds?: readonly string[] | undefined
  phone?: string | undefined
  /** The user ID of a person without a phone number. */
  userId?: string | undefined
  /** Excludes messages, and numbers and user IDs, that other searches of the same list cover. */
  notIds?: readonly string[] | undefined
  notPeople?: readonly string[] | undefined
  reference?: string | undefined
  status?: MessageStatus | undefined
  types?: readonly string[] | undefined
  senderId?: string | undefined
  templateId?: string | undefined
  templateIds?: readonly string[] | undefined
  /** WhatsApp's ID of the message that it replies to. */
  quoted?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
}

export interface MessageListRow {
  id: string
  direction: Direction
  source: EchoSource | null
  at: Date
  phone: string | null
  user_id: string | null
  username: string | null
  profile_name: string | null
  sender_id: string
  group_id: string | null
  type: string
  status: MessageStatus | 'received'
  preview: string | null
  template_id: string | null
  /** The values of its template's variables. */
  variables: Record<string, unknown> | null
  reference: string | null
  error: string | null
  content_removed_at: Date | null
  is_erased: boolean
}

/**
 * Sent and received messages that match any of the searches, by time. Each search is a subquery that reads at most one page
 * from the index that fits it. A subquery includes only the conditions that are set, so that each gets its own plan.
 */
export function selectMessages(
  db: Db,
  workspaceId: string,
  searches: readonly MessageSearch[],
  page: KeySet,
): Promise<MessageListRow[]> {
  const values: unknown[] = [workspaceId, page.take, ...(page.after ? [page.after.at, page.after.id] : [])]
  const isAfter = page.order === 'desc' ? '<' : '>'
  const parts = partsOf(searches, values, ({ name, time, columns }, conditions, search) => {
    if (page.after) conditions.push(`(${time}, id) ${isAfter} ($3::timestamptz, $4::uuid)`)
    // They are few. `offset 0` keeps PostgreSQL from scanning the time index to find them.
    const optimizationFence = search.quoted === undefined && search.ids === undefined ? '' : 'offset 0'
    return `(select ${columns} from (select * from ${name} where ${conditions.join(' and ')} ${optimizationFence}) as m
          order by ${time} ${page.order}, id ${page.order} limit $2::int)`
  })
  if (parts.length === 0) return Promise.resolve([])
  return db.rows(
    `select x.* from (${parts.join(' union all ')}) as x
     order by x.at ${page.order}, x.id ${page.order} limit $2::int`,
    values,
  )
}

/** How many messages match any of the searches, at most `atMost`. */
export async function countMessages(
  db: Db,
  workspaceId: string,
  searches: readonly MessageSearch[],
  atMost: number,
): Promise<number> {
  const values: unknown[] = [workspaceId, atMost]
  const parts = partsOf(
    searches,
    values,
    ({ name }, conditions) => `(select 1 from ${name} where ${conditions.join(' and ')} limit $2::int)`,
  )
  if (parts.length === 0) return 0
  const counting = `select count(*)::int as count from ${parts.length === 1 ? parts[0] : `(${parts.join(' union all ')})`} as counted`
  return (await db.first<{ count: number }>(counting, values))?.count ?? 0
}

/**
 * The newest messages of each search, at most `atMost`, by bar and status. Messages that the business wrote elsewhere are not
 * among them. `oldest` is the oldest message of a search that has more.
 */
export async function messagesByBar(
  db: Db,
  workspaceId: string,
  searches: readonly MessageSearch[],
  times: readonly Date[],
  atMost: number,
): Promise<{ bar: number; status: MessageStatus | 'received'; count: number; oldest: Date | null }[]> {
  const values: unknown[] = [workspaceId, atMost, times]
  const parts = partsOf(searches, values, ({ name, direction, time }, conditions) => {
    if (direction === 'received') conditions.push('source is null')
    const status = direction === 'sent' ? 'status' : "'received'"
    const newest = `select id, ${time} as at, ${status} as status from ${name}
        where ${conditions.join(' and ')} order by ${time} desc, id desc limit $2::int`
    return `select *, case when count(*) over () >= $2::int then min(at) over () end as oldest from (${newest}) as m`
  })
  if (parts.length === 0) return []
  // A message may match several searches.
  return db.rows(
    `select width_bucket(at, $3::timestamptz[]) as bar, status, count(*)::int as count, max(oldest) as oldest
     from (select distinct on (id) id, at, status, max(oldest) over () as oldest from (${parts.join(' union all ')}) as found) as m
     group by 1, 2`,
    values,
  )
}

/** The maximum length of the preview of a message in a list. */
export const previewLength = 500

export const sentTable = {
  name: 'messages',
  direction: 'sent',
  time: 'created_at',
  phone: 'recipient',
  columns: `id, 'sent' as direction, null::text as source, created_at as at, case when recipient ~ '^[0-9]' then recipient end as phone,
    recipient_user_id as user_id,
    null::text as username, null::text as profile_name, sender_id, null::text as group_id, type, status,
    left(coalesce(content #>> '{request,text,body}', content #>> array['request', type, 'caption'],
      content #>> '{request,interactive,body,text}', content #>> '{request,reaction,emoji}',
      content #>> '{request,location,name}', content #>> '{request,document,filename}',
      content #>> '{request,contacts,0,name,formatted_name}'), ${previewLength}) as preview,
    template_id, reference, error ->> 'title' as error,
    content #> '{request,template,variables}' as variables, content_removed_at, recipient = '' as is_erased`,
} as const

export const receivedTable = {
  name: 'inbound_messages',
  direction: 'received',
  time: 'recorded_at',
  phone: 'sent_by',
  columns: `id, case when source is null then 'received' else 'sent' end as direction, source, recorded_at as at, sent_by as phone, sent_by_user_id as user_id,
    content ->> 'username' as username, profile_name,
    sender_id, content ->> 'groupId' as group_id, type,
    case when source is null then 'received' else coalesce(content ->> 'status', 'sent') end as status,
    left(coalesce(content ->> 'text', content #>> '{location,name}', content #>> '{location,address}',
      content #>> '{media,filename}', content #>> '{order,text}', content #>> '{reaction,emoji}',
      content #>> '{contacts,0,name}'), ${previewLength}) as preview,
    null::uuid as template_id, null::text as reference, content #>> '{error,title}' as error,
    null::json as variables, content_removed_at, wa_message_id like 'erased:%' as is_erased`,
} as const

type Table = typeof sentTable | typeof receivedTable

/** A subquery for each search and each table in which it can match a row. Adds to the values; the first is the workspace. */
const partsOf = (
  searches: readonly MessageSearch[],
  values: unknown[],
  write: (table: Table, conditions: string[], search: MessageSearch) => string,
): string[] =>
  searches.flatMap((search) =>
    [sentTable, receivedTable].flatMap((table) => {
      const conditions = conditionsOf(table, search, (value) => `$${values.push(value)}`)
      return conditions === null ? [] : [write(table, ['workspace_id = $1', ...conditions], search)]
    }),
  )

/** Null if no row of this table can match. */
function conditionsOf(table: Table, search: MessageSearch, param: (value: unknown) => string): string[] | null {
  const { reference, status, templateId, templateIds } = search
  const isSentOnly = [reference, status, templateId, templateIds].some((each) => each !== undefined)
  if (table.direction === 'received' && isSentOnly) return null
  if (search.direction !== undefined && search.direction !== table.direction) return null
  const conditions: string[] = []
  const equal = (column: string, type: string, value: unknown) => {
    if (value !== undefined) conditions.push(`${column} = ${param(value)}::${type}`)
  }
  if (search.ids !== undefined) conditions.push(`id = any(${param(search.ids)}::uuid[])`)
  if (search.notIds !== undefined) conditions.push(`id <> all(${param(search.notIds)}::uuid[])`)
  equal(table.phone, 'text', search.phone)
  if (search.userId !== undefined) {
    const userId = param(search.userId)
    conditions.push(
      table.direction === 'sent'
        ? `recipient = ${userId}::text`
        : `sent_by is null and sent_by_user_id = ${userId}::text`,
    )
  }
  if (search.notPeople !== undefined) conditions.push(`${table.phone} <> all(${param(search.notPeople)}::text[])`)
  equal('reference', 'text', reference)
  equal('sender_id', 'uuid', search.senderId)
  equal('template_id', 'uuid', templateId)
  equal('quoted_wa_message_id', 'text', search.quoted)
  if (table.direction === 'received' && search.quoted !== undefined) conditions.push(`not ${isChange}`)
  if (table.direction === 'received' && search.direction !== undefined) conditions.push('source is null')
  if (search.senderIds !== undefined) conditions.push(`sender_id = any(${param(search.senderIds)}::uuid[])`)
  if (templateIds !== undefined) conditions.push(`template_id = any(${param(templateIds)}::uuid[])`)
  // Literals, because a partial index is only used if the statement names the value.
  if (status !== undefined) conditions.push(`status = '${keyword(status)}'`, ...(rareStatuses[status] ?? []))
  if (search.types !== undefined) conditions.push(`type in (${search.types.map((type) => `'${keyword(type)}'`)})`)
  if (search.from) conditions.push(`${table.time} >= ${param(search.from)}::timestamptz`)
  if (search.to) conditions.push(`${table.time} < ${param(search.to)}::timestamptz`)
  return conditions
}

/**
 * Conditions that hold for every message of a rare status, as written in the index that finds them. The status itself is in no
 * index, because each status would then have to change the indexes too. For frequent statuses, the index by time is enough.
 */
const rareStatuses: Readonly<Partial<Record<MessageStatus, readonly string[]>>> = {
  queued: ['wa_message_id is null', 'failed_at is null'],
  failed: ['failed_at is not null'],
}

export function keyword(text: string): string {
  if (!/^[a-z_]{1,30}$/.test(text)) throw new Error(`"${text}" is not a keyword`)
  return text
}
