import type { Db } from '../../db/db.ts'
import { withPlannerSettingsOff } from '../../db/planner-settings.ts'
import type { FoundRow } from './search.sql.ts'

/** Searches the contents of the newest rows. There is no index of words. */

export type TextKind = 'message' | 'inbound' | 'order' | 'form'

interface Source {
  table: string
  time: string
  title: string
  /** What is searched, and shown with a result. */
  text: string
  number: string
  userId: string
  name: string
}

const sources: Record<TextKind, Source> = {
  message: {
    table: 'messages',
    time: 'created_at',
    title: `'To ' || case when recipient ~ '^[0-9]' then '+' || recipient when recipient = '' then 'an erased contact' else recipient end`,
    text: `concat_ws(' · ', content #>> '{request,text,body}', content #>> array['request', type, 'caption'],
      content #>> '{request,interactive,body,text}', content #>> '{request,location,name}',
      content #>> '{request,document,filename}', content #>> '{request,contacts,0,name,formatted_name}',
      (select string_agg(v.value, ' ') from json_each_text(case
         when json_typeof(content #> '{request,template,variables}') = 'object'
         then content #> '{request,template,variables}' end) as v), reference)`,
    number: `case when recipient ~ '^[0-9]' then recipient end`,
    userId: 'recipient_user_id',
    name: 'null::text',
  },
  inbound: {
    table: 'inbound_messages',
    time: 'recorded_at',
    title: `'From ' || coalesce(profile_name, '+' || sent_by, sent_by_user_id, 'an unknown number')`,
    text: `concat_ws(' · ', content ->> 'text', content #>> '{location,name}', content #>> '{location,address}',
      content #>> '{media,filename}', content #>> '{order,text}', content #>> '{contacts,0,name}')`,
    number: 'sent_by',
    userId: 'sent_by_user_id',
    name: 'profile_name',
  },
  order: {
    table: 'orders',
    time: 'created_at',
    title: `'Order from ' || coalesce(profile_name, '+' || sent_by, sent_by_user_id, 'an unknown number')`,
    text: `concat_ws(' · ', note, (select string_agg(i ->> 'product_id', ', ') from json_array_elements(items) as i),
      total || ' ' || currency)`,
    number: 'sent_by',
    userId: 'sent_by_user_id',
    name: 'profile_name',
  },
  form: {
    table: 'flow_responses',
    time: 'created_at',
    title: `'Form from ' || coalesce('+' || sent_by, sent_by_user_id, 'an unknown number')`,
    text: `concat_ws(' · ', response::text, flow_token)`,
    number: 'sent_by',
    userId: 'sent_by_user_id',
    name: 'null::text',
  },
}

/** The beginning of a content that is searched, and of one that is shown. */
const searchedLength = 4_000
const shownLength = 120

export interface NewestQuery {
  workspaceId: string
  /** In lower case. */
  words: readonly string[]
  /** How many of the newest rows are read. */
  look: number
  take: number
}

export interface TextFound {
  rows: FoundRow[]
  /** The time of the oldest row that was read; null if all rows were. */
  searchedTo: Date | null
}

/** Reads the newest rows from the index by time, in its order. */
const newestFirst = <T>(db: Db, read: (tx: Db) => Promise<T>): Promise<T> =>
  withPlannerSettingsOff(['seqscan', 'bitmapscan', 'sort'], db, read)

/** Rows whose content has all words, newest first. */
export async function newestWithText(
  db: Db,
  kind: TextKind,
  { workspaceId, words, look, take }: NewestQuery,
): Promise<TextFound> {
  const { table, time, title, text } = sources[kind]
  const found = await newestFirst(db, (tx) =>
    tx.rows<FoundRow & { at: Date; isEnd: boolean }>(
      `with newest as materialized (
         select id, ${time} as at, ${title} as title, left(${text}, ${searchedLength}) as text
         from ${table} where workspace_id = $1 order by ${time} desc, id desc limit $2::int
       )
       (select id, at, title, left(text, ${shownLength}) as detail, false as "isEnd" from newest
        where not exists (select 1 from unnest($3::text[]) as w(word) where strpos(lower(text), w.word) = 0)
        order by at desc, id desc limit $4::int)
       union all
       (select id, at, '', '', true from newest order by at, id offset 0 limit (
          select case when count(*) = $2::int then 1 else 0 end from newest))`,
      [workspaceId, look, words, take],
    ),
  )
  const rows = found.filter(({ isEnd }) => !isEnd)
  return {
    rows: rows.map(({ id, title, detail }) => ({ kind, id, title, detail })),
    searchedTo: found.find(({ isEnd }) => isEnd)?.at ?? null,
  }
}

export interface ContactRow {
  number: string | null
  userId: string | null
  name: string | null
}

/** People of the newest messages whose number has these digits, or whose name has all words. */
export const newestContacts = (
  db: Db,
  kind: 'message' | 'inbound',
  { workspaceId, words, look, take, digits }: NewestQuery & { digits: string | null },
): Promise<ContactRow[]> => {
  const { table, time, number, userId, name } = sources[kind]
  return newestFirst(db, (tx) =>
    tx.rows(
      `select number, "userId", max(name) as name from (
         select ${number} as number, ${userId} as "userId", ${name} as name, ${time} as at
         from ${table} where workspace_id = $1 order by ${time} desc, id desc limit $2::int
       ) as newest
       where coalesce(number, "userId") is not null and (strpos(number, $5::text) > 0 or (name is not null
         and not exists (select 1 from unnest($3::text[]) as w(word) where strpos(lower(name), w.word) = 0)))
       group by number, "userId" order by max(at) desc limit $4::int`,
      [workspaceId, look, words, take, digits],
    ),
  )
}
