import type { Direction } from '@parley/contract/console/messages'
import type { MessageStatus } from '@parley/contract/message'
import type { Db } from '../../../db/db.ts'
import type { KeySet } from '../../../lib/key-set.ts'

/** What is looked for; what is undefined does not matter. Some of it only a sent message has. */
export interface Wanted {
  direction?: Direction | undefined
  id?: string | undefined
  /** With the senders that it may be of: the network's ids are unique only for each. */
  waMessageId?: string | undefined
  senderIds?: readonly string[] | undefined
  phone?: string | undefined
  /** Not this number: it is looked for beside. */
  notPhone?: string | undefined
  reference?: string | undefined
  status?: MessageStatus | undefined
  type?: string | undefined
  senderId?: string | undefined
  templateId?: string | undefined
  /** The network's id of the message that is answered. */
  quoted?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
}

export interface LoggedRow {
  id: string
  direction: Direction
  at: Date
  phone: string | null
  user_id: string | null
  profile_name: string | null
  sender_id: string
  type: string
  status: MessageStatus | 'received'
  preview: string | null
  template_id: string | null
  /** What the variables of its template were given. */
  variables: Record<string, unknown> | null
  reference: string | null
  error: string | null
}

/**
 * Messages of both directions that fit one of the wishes, by time. Each wish is a read of its own of the index that fits
 * it, no longer than the page; the statement has only the conditions that matter, so that each gets its own plan.
 */
export function selectMessages(
  db: Db,
  workspaceId: string,
  inputs: readonly Wanted[],
  page: KeySet,
): Promise<LoggedRow[]> {
  const values: unknown[] = [workspaceId, page.take]
  const param = (value: unknown) => `$${values.push(value)}`
  const place = page.after && `(${param(page.after.at)}::timestamptz, ${param(page.after.id)}::uuid)`
  const parts = inputs.flatMap((wanted) =>
    ([sentTable, receivedTable] as const).flatMap((table) => {
      const conditions = conditionsOf(table, wanted, param)
      if (conditions === null) return []
      const { time } = table
      if (place) conditions.push(`(${time}, id) ${page.order === 'desc' ? '<' : '>'} ${place}`)
      const where = ['workspace_id = $1', ...conditions].join(' and ')
      // Answers to one message are few; the fence keeps them from being looked for along the whole of time.
      const fence = wanted.quoted === undefined ? '' : 'offset 0'
      return [
        `(select ${table.columns} from (select * from ${table.name} where ${where} ${fence}) as m
          order by ${time} ${page.order}, id ${page.order} limit $2::int)`,
      ]
    }),
  )
  if (parts.length === 0) return Promise.resolve([])
  return db.rows(
    `select x.* from (${parts.join(' union all ')}) as x
     order by x.at ${page.order}, x.id ${page.order} limit $2::int`,
    values,
  )
}

/** As many characters of a message as a list shows. */
export const previewLength = 500

const sentTable = {
  name: 'messages',
  direction: 'sent',
  time: 'created_at',
  phone: 'recipient',
  columns: `id, 'sent' as direction, created_at as at, recipient as phone, null::text as user_id,
    null::text as profile_name, sender_id, type, status,
    left(coalesce(content #>> '{request,text,body}', content #>> array['request', type, 'caption'],
      content #>> '{request,interactive,body,text}', content #>> '{request,reaction,emoji}',
      content #>> '{request,location,name}', content #>> '{request,document,filename}',
      content #>> '{request,contacts,0,name,formatted_name}'), ${previewLength}) as preview,
    template_id, reference, error ->> 'title' as error,
    content #> '{request,template,variables}' as variables`,
} as const

const receivedTable = {
  name: 'inbound_messages',
  direction: 'received',
  time: 'recorded_at',
  phone: 'sent_by',
  columns: `id, 'received' as direction, recorded_at as at, sent_by as phone, sent_by_user_id as user_id, profile_name,
    sender_id, type, 'received' as status,
    left(coalesce(content ->> 'text', content #>> '{location,name}', content #>> '{location,address}',
      content #>> '{media,filename}', content #>> '{order,text}'), ${previewLength}) as preview,
    null::uuid as template_id, null::text as reference, content #>> '{error,title}' as error,
    null::json as variables`,
} as const

/** Null: nothing in this table can fit. */
function conditionsOf(
  table: typeof sentTable | typeof receivedTable,
  wanted: Wanted,
  param: (value: unknown) => string,
): string[] | null {
  const { reference, status, templateId } = wanted
  const isSentOnly = reference !== undefined || status !== undefined || templateId !== undefined
  if (table.direction === 'received' && isSentOnly) return null
  if (wanted.direction !== undefined && wanted.direction !== table.direction) return null
  const conditions: string[] = []
  const equal = (column: string, type: string, value: unknown) => {
    if (value !== undefined) conditions.push(`${column} = ${param(value)}::${type}`)
  }
  equal('id', 'uuid', wanted.id)
  equal(table.phone, 'text', wanted.phone)
  if (wanted.notPhone !== undefined) conditions.push(`${table.phone} <> ${param(wanted.notPhone)}::text`)
  equal('reference', 'text', reference)
  equal('sender_id', 'uuid', wanted.senderId)
  equal('template_id', 'uuid', templateId)
  equal('quoted_wa_message_id', 'text', wanted.quoted)
  equal('wa_message_id', 'text', wanted.waMessageId)
  if (wanted.senderIds !== undefined) conditions.push(`sender_id = any(${param(wanted.senderIds)}::uuid[])`)
  // Words of ours, spelled out: an index of rare ones serves only who names one.
  if (status !== undefined) conditions.push(`status = '${word(status)}'`)
  if (wanted.type !== undefined) conditions.push(`type = '${word(wanted.type)}'`)
  if (wanted.from) conditions.push(`${table.time} >= ${param(wanted.from)}::timestamptz`)
  if (wanted.to) conditions.push(`${table.time} < ${param(wanted.to)}::timestamptz`)
  return conditions
}

function word(text: string): string {
  if (!/^[a-z_]{1,30}$/.test(text)) throw new Error(`"${text}" is no word of ours`)
  return text
}
