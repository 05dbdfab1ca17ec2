import type { Db } from '../../db/db.ts'

/** Reads the contents that are searched: messages, orders and forms, which are tables of other nouns. */

export const kinds = ['message', 'inbound', 'order', 'form'] as const
export type Kind = (typeof kinds)[number]

interface Source {
  table: string
  time: string
  /** The kind of the object, shown before the name of the contact. */
  title: string
  /** The text that is searched, and shown with a result. For forms, JSON. */
  text: string
  number: string
  userId: string
  name: string
}

const sources: Readonly<Record<Kind, Source>> = {
  message: {
    table: 'messages',
    time: 'created_at',
    title: `'To'`,
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
    title: `case when source is null then 'From' else 'To' end`,
    text: `concat_ws(' · ', content ->> 'text', content #>> '{location,name}', content #>> '{location,address}',
      content #>> '{media,filename}', content #>> '{order,text}', content #>> '{contacts,0,name}')`,
    number: 'sent_by',
    userId: 'sent_by_user_id',
    name: 'profile_name',
  },
  order: {
    table: 'orders',
    time: 'created_at',
    title: `'Order from'`,
    text: `concat_ws(' · ', note, (select string_agg(i ->> 'product_id', ', ') from json_array_elements(items) as i),
      total || ' ' || currency)`,
    number: 'sent_by',
    userId: 'sent_by_user_id',
    name: 'profile_name',
  },
  form: {
    table: 'flow_responses',
    time: 'created_at',
    title: `'Form from'`,
    text: `json_build_array(response, flow_token)::text`,
    number: 'sent_by',
    userId: 'sent_by_user_id',
    name: 'null::text',
  },
}

/** The beginning of a content that is searched. A form is read completely, because a part of it is not JSON. */
const textOf = (kind: Kind): string => (kind === 'form' ? sources.form.text : `left(${sources[kind].text}, 4000)`)

export interface Person {
  number: string | null
  userId: string | null
  name: string | null
}

export interface Found extends Person {
  id: string
  title: string
  text: string
}

const columnsOf = (kind: Kind): string => {
  const { title, number, userId, name } = sources[kind]
  return `id, ${title} as title, ${textOf(kind)} as text, ${number} as number,
    ${userId} as "userId", ${name} as name`
}

/** The newest objects of a workspace. */
export const newestObjects = (db: Db, kind: Kind, workspaceId: string, take: number): Promise<Found[]> => {
  const { table, time } = sources[kind]
  return db.rows(
    `select ${columnsOf(kind)} from ${table} where workspace_id = $1 order by ${time} desc, id desc limit $2::int`,
    [workspaceId, take],
  )
}

/** The newest objects whose index has, for each of the texts, a word that begins with it. Newest first. */
export const indexedObjects = async (
  db: Db,
  kind: Kind,
  workspaceId: string,
  beginnings: readonly string[],
  take: number,
): Promise<Found[]> => {
  const found = await db.rows<{ id: string }>('select id from search_ids($1, $2, $3, $4) as id', [
    kind,
    workspaceId,
    beginnings,
    take,
  ])
  const ids = found.map(({ id }) => id)
  if (ids.length === 0) return []
  const objects = await db.rows<Found>(
    `select object.* from unnest($2::uuid[]) as found(id) cross join lateral (
       select ${columnsOf(kind)} from ${sources[kind].table} where workspace_id = $1 and id = found.id
       -- In the order of the primary key, so that PostgreSQL reads it and no other index.
       order by id limit 1) as object`,
    [workspaceId, ids],
  )
  const byId = new Map(objects.map((object) => [object.id, object]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** Numbers that begin with these digits: one look-up in an index for each. */
export const numbersBeginning = async (
  db: Db,
  workspaceId: string,
  digits: string,
  take: number,
): Promise<string[]> => {
  const each = (table: string, number: string) => `(
    with recursive found as (
      (select ${number} as number from ${table}
       where workspace_id = $1 and ${number} >= $2::text and ${number} < $3::text order by ${number} limit 1)
      union all
      select (select ${number} from ${table}
        where workspace_id = $1 and ${number} > found.number and ${number} < $3::text order by ${number} limit 1)
      from found where found.number is not null
    ) select number from found where number is not null limit $4::int)`
  const rows = await db.rows<{ number: string }>(
    `${each('messages', 'recipient')} union ${each('inbound_messages', 'sent_by')}`,
    // In every collation, letters follow digits.
    [workspaceId, digits, `${digits}A`, take],
  )
  return rows.map(({ number }) => number)
}

/** The names of these people, who are named by number or user ID: as the business saved them, or of their newest messages. */
export const namesOf = (db: Db, workspaceId: string, people: readonly string[]) => {
  const profiles = ['sent_by = p.person', 'sent_by is null and sent_by_user_id = p.person'].map(
    (isFrom) => `(select profile_name, recorded_at from inbound_messages where workspace_id = $1 and ${isFrom}
      order by recorded_at desc, id desc limit ${profilesMax})`,
  )
  return db.rows<{ person: string; name: string }>(
    `select p.person, coalesce(saved.name, profile.name) as name from unnest($2::text[]) as p(person)
     left join lateral (
       select s.name from saved_contacts s where s.workspace_id = $1 and s.person = p.person and s.name is not null
       order by s.changed_at desc limit 1) as saved on true
     left join lateral (
       select n.profile_name as name from (${profiles.join(' union all ')}) as n where n.profile_name is not null
       order by n.recorded_at desc limit 1) as profile on true
     where coalesce(saved.name, profile.name) is not null`,
    [workspaceId, people],
  )
}

/** A message that the business wrote elsewhere has no name. */
const profilesMax = 20
