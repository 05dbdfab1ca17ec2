import type { Db } from '../../../db/db.ts'
import type { Position } from '../../../lib/key-set.ts'
import { type KnownPerson, personValues } from '../../../whatsapp/incoming/split-by-person.ts'
import { erasedKey } from '../sending/idempotency.sql.ts'
import { nothingSent } from './remove-content.sql.ts'

/** The user IDs that were seen with a number. */
export const userIdsOfNumber = async (db: Db, workspaceId: string, number: string): Promise<string[]> =>
  (
    await db.rows<{ id: string }>(
      `select sent_by_user_id as id from inbound_messages
       where workspace_id = $1 and sent_by = $2 and sent_by_user_id is not null
       union
       select recipient_user_id from messages
       where workspace_id = $1 and recipient = $2 and recipient_user_id is not null
       union
       select new_user_id from user_id_changes where workspace_id = $1 and number = $2`,
      [workspaceId, number],
    )
  ).map(({ id }) => id)

/**
 * The numbers that were seen with user IDs. No index has the user IDs of people with a number, so this reads all messages of the
 * workspace.
 */
export const numbersOfUserIds = async (db: Db, workspaceId: string, userIds: readonly string[]): Promise<string[]> =>
  (
    await db.rows<{ number: string }>(
      `select sent_by as number from inbound_messages
       where workspace_id = $1 and sent_by is not null and sent_by_user_id = any($2::text[])
       union
       select recipient from messages
       where workspace_id = $1 and recipient ~ '^[0-9]' and recipient_user_id = any($2::text[])
       union
       select number from user_id_changes
       where workspace_id = $1 and number is not null and new_user_id = any($2::text[])`,
      [workspaceId, userIds],
    )
  ).map(({ number }) => number)

/**
 * The user IDs that replaced these or were replaced by them, directly or through others, and these. Without `withNewNumbers`, a
 * change of the number ends it.
 */
export const replacedUserIds = async (
  db: Db,
  workspaceId: string,
  userIds: readonly string[],
  withNewNumbers: boolean,
): Promise<string[]> =>
  (
    await db.rows<{ id: string }>(
      `with recursive followed as (
         select unnest($2::text[]) as id
         union
         select case when c.old_user_id = f.id then c.new_user_id else c.old_user_id end
         from followed f join user_id_changes c
           on c.workspace_id = $1 and f.id in (c.old_user_id, c.new_user_id) and ($3 or not c.changed_number))
       select id from followed`,
      [workspaceId, userIds, withNewNumbers],
    )
  ).map(({ id }) => id)

/** Where a person is found: which of their numbers or user IDs, and the condition for a row that has it. */
interface Place {
  ids: string
  condition: string
}

const hasNumber = (number: string, userId: string): Place => ({
  ids: '$2::text[]',
  condition: `${number} = person.id and ($4 or ${userId} is null or ${userId} = any($3::text[]))`,
})

/** A message is sent to a number, or to a user ID. */
const sentTo: readonly Place[] = [
  hasNumber('recipient', 'recipient_user_id'),
  { ids: '$3::text[]', condition: 'recipient = person.id' },
]
const receivedFrom: readonly Place[] = [
  hasNumber('sent_by', 'sent_by_user_id'),
  { ids: '$3::text[]', condition: 'sent_by is null and sent_by_user_id = person.id' },
]

/** Looks up each number and user ID in the index by person. */
const rowsOf = (places: readonly Place[], select: (condition: string) => string): string =>
  places
    .map(
      ({ ids, condition }) => `select found.* from unnest(${ids}) as person(id) cross join lateral (
         ${select(`workspace_id = $1 and ${condition}`)}) as found`,
    )
    .join(' union all ')

/** How many messages to the person from before a time are not sent yet, or may have been sent. */
export const countQueued = async (db: Db, person: KnownPerson, until: Date): Promise<number> =>
  (
    await db.first<{ count: number }>(
      `select count(*)::int as count from outbox o join messages m on m.id = o.message_id
       where o.workspace_id = $1 and o.recipient = any($2::text[] || $3::text[])
         and ($4 or m.recipient_user_id is null or m.recipient_user_id = any($3::text[])) and m.created_at <= $5`,
      [...personValues(person), until],
    )
  )?.count ?? 0

interface MessageOfPerson {
  id: string
  created_at: Date
  sender_id: string
  /** JSON as text, because the driver would round large numbers. */
  content: string
}

/** Columns that are not listed here are exported as they are. */
export interface SentOfPerson extends MessageOfPerson {
  recipient: string
  recipient_user_id: string | null
  template_id: string | null
  request_id: string | null
}

export interface ReceivedOfPerson extends MessageOfPerson {
  sent_by: string | null
  sent_by_user_id: string | null
  source: string | null
}

/** A page by time. Each number and user ID reads at most a page from its index. */
const pageOf = (columns: string, table: string, time: string, places: readonly Place[]) =>
  `select * from (${rowsOf(
    places,
    (condition) => `select ${columns} from ${table} where ${condition} and (${time}, id) > ($5::timestamptz, $6::uuid)
         order by ${time}, id limit $7`,
  )}) as page order by created_at, id limit $7`

const sentColumns = `id, created_at, sender_id, recipient, recipient_user_id, type, template_id, reference, status, wa_message_id,
  quoted_wa_message_id, credits, error, pricing, sent_at, delivered_at, read_at, failed_at, content_removed_at, request_id,
  content::text as content`

export const sentOfPerson = (db: Db, person: KnownPerson, after: Position, take: number): Promise<SentOfPerson[]> =>
  db.rows(
    `select page.*, (select coalesce(json_agg(json_build_object('status', s.status, 'occurred_at', s.occurred_at,
         'error', s.error) order by s.occurred_at), '[]') from message_statuses s where s.message_id = page.id) as history
     from (${pageOf(sentColumns, 'messages', 'created_at', sentTo)}) as page order by created_at, id`,
    [...personValues(person), after.at, after.id, take],
  )

const receivedColumns = `id, recorded_at as created_at, sender_id, wa_message_id, sent_by, sent_by_user_id, profile_name, type,
  received_at, quoted_wa_message_id, content_removed_at, source, content::text as content`

export const receivedOfPerson = (db: Db, person: KnownPerson, after: Position, take: number) =>
  db.rows<ReceivedOfPerson>(pageOf(receivedColumns, 'inbound_messages', 'recorded_at', receivedFrom), [
    ...personValues(person),
    after.at,
    after.id,
    take,
  ])

/** A number of a person who is named by user ID may be another person's by now. */
const changesUserId = `workspace_id = $1
       and (old_user_id = any($3::text[]) or new_user_id = any($3::text[]) or ($4 and number = any($2::text[])))`

export const userIdChangesOf = (db: Db, person: KnownPerson) =>
  db.rows<{ old_user_id: string; new_user_id: string; number: string | null; changed_at: Date }>(
    `select old_user_id, new_user_id, number, changed_at from user_id_changes
     where ${changesUserId} order by changed_at, old_user_id`,
    personValues(person),
  )

/** A message that was erased. */
export interface ErasedMessage {
  id: string
  createdAt: Date
}

/** A sent message, with the API request that created it, if any. */
export interface ErasedSent extends ErasedMessage {
  requestId: string | null
}

/** Messages to erase. Only those from before the erasure was asked for: what the person writes afterwards is new. */
const idsOf = (table: string, time: string, places: readonly Place[], more = '') =>
  `select id from (${rowsOf(
    places,
    (condition) => `select id from ${table} where ${condition} and ${time} <= $5 ${more} limit $6`,
  )}) as found limit $6`

/** An error without the texts of the network, which may contain a number. */
const withoutTexts = (error: string) =>
  `case when ${error} is not null then
     json_build_object('code', ${error} -> 'code', 'title', ${error} -> 'title', 'message', '', 'details', null) end`

const notQueued = 'and not exists (select from outbox o where o.message_id = messages.id)'

/**
 * Erases the next sent messages of a person. Their rows stay, for statuses, credits and counts. The network's ID
 * contains the number, so it is replaced. A message in the outbox is left out until it has been sent or has failed.
 */
export const eraseSentMessages = (
  db: Db,
  person: KnownPerson,
  { until, take, now }: { until: Date; take: number; now: Date },
): Promise<ErasedSent[]> =>
  db.rows(
    `with chosen as materialized (
       ${idsOf('messages', 'created_at', sentTo, notQueued)}
     ), erased as (
       -- In the order of the primary key, in which statuses lock them too.
       update messages m set recipient = '', recipient_user_id = null, reference = null, quoted_wa_message_id = null,
         wa_message_id = case when m.wa_message_id is not null then 'erased:' || m.id end, content = ${nothingSent},
         error = ${withoutTexts('m.error')}, content_removed_at = coalesce(m.content_removed_at, $7)
       where m.id = any(array(select id from chosen))
       returning m.id, m.created_at, m.request_id
     ), statuses as (
       update message_statuses s set error = ${withoutTexts('s.error')}
       where s.message_id = any(array(select id from chosen)) and s.error is not null
     )
     select id, created_at as "createdAt", request_id as "requestId" from erased`,
    [...personValues(person), until, take, now],
  )

/** Erases the next messages from a person. */
export const eraseReceivedMessages = (
  db: Db,
  person: KnownPerson,
  { until, take, now }: { until: Date; take: number; now: Date },
): Promise<ErasedMessage[]> =>
  db.rows(
    `with chosen as materialized (
       ${idsOf('inbound_messages', 'recorded_at', receivedFrom)}
     )
     update inbound_messages m set sent_by = null, sent_by_user_id = null, profile_name = null, content = '{}',
       quoted_wa_message_id = null, wa_message_id = 'erased:' || m.id,
       content_removed_at = coalesce(m.content_removed_at, $7)
     where m.id = any(array(select id from chosen))
     returning m.id, m.recorded_at as "createdAt"`,
    [...personValues(person), until, take, now],
  )

/**
 * A regular expression for each number and user ID, which finds it in a text, and not in a longer one. Letters may be next to a
 * number: in JSON, a line break is one.
 */
const patternsOf = ({ numbers, userIds }: Pick<KnownPerson, 'numbers' | 'userIds'>): string[] => [
  ...numbers.map((number) => `(^|[^0-9])${number}([^0-9]|$)`),
  ...userIds.map((id) => `(^|[^0-9])${id.replaceAll('.', '[.]')}([^0-9A-Za-z]|$)`),
]

const answersPerson = `((answer::json ->> 'to' = any($2::text[])
         and ($4 or answer::json ->> 'to_user_id' is null or answer::json ->> 'to_user_id' = any($3::text[])))
       or (answer::json ->> 'to' is null and answer::json ->> 'to_user_id' = any($3::text[])))`
const isKeyOfPerson = `workspace_id = $1 and (${answersPerson} or idempotency_key ~ any($5::text[]))`

/** A number of a person who is named by user ID may be another person's by now. */
const keyParametersOf = (person: KnownPerson) => [
  ...personValues(person),
  patternsOf({ numbers: person.isNumber ? person.numbers : [], userIds: person.userIds }),
]

/** The idempotency keys of requests that sent messages to a person, and keys that contain their number or user ID. */
export const idempotencyKeysOf = (db: Db, person: KnownPerson) =>
  db.rows<{ idempotency_key: string; created_at: Date }>(
    `select idempotency_key, created_at from idempotency_keys where ${isKeyOfPerson} order by created_at, idempotency_key`,
    keyParametersOf(person),
  )

/**
 * Removes the person from the stored responses to requests, and replaces their keys. The responses stay: without them, a repeated
 * request would send its message again. There are at most two days of a workspace's keys.
 */
export const eraseStoredResponses = (db: Db, person: KnownPerson, until: Date): Promise<number> =>
  db.change(
    `update idempotency_keys set
       answer = case when ${answersPerson}
         then (answer::jsonb || '{"to":null,"to_user_id":null,"reference":null}')::text else answer end,
       idempotency_key = ${erasedKey('idempotency_key')}
     where ${isKeyOfPerson} and created_at <= $6`,
    [...keyParametersOf(person), until],
  )

export const deleteUserIdChanges = (db: Db, person: KnownPerson): Promise<number> =>
  db.change(`delete from user_id_changes where ${changesUserId}`, personValues(person))

/** The bytes of WhatsApp's ID of a message. Null if it is not `wamid.` and base64; the last characters may be missing. */
const idBytes = `case when wa_message_id ~ '^wamid[.]([A-Za-z0-9+/_-]{4})*([A-Za-z0-9+/_-]{2,3})?=*$' then decode(
         rpad(translate(rtrim(substr(wa_message_id, 7), '='), '-_', '+/'),
           (length(rtrim(substr(wa_message_id, 7), '=')) + 3) / 4 * 4, '='), 'base64') end`

/** Statuses that wait for their message: by user ID, or by the number in the network's ID or in the text of an error. */
const isEarlyOfPerson = `workspace_id = $1 and (recipient_user_id = any($2::text[]) or (($3 or recipient_user_id is null)
       and (error::text ~ any($4::text[])
         or exists (select from unnest($5::text[]) as named(hex) where position(decode(named.hex, 'hex') in ${idBytes}) > 0))))`

const earlyParametersOf = (person: KnownPerson, bytesInIds: readonly Buffer[]) => [
  person.workspaceId,
  person.userIds,
  person.isNumber,
  patternsOf(person),
  bytesInIds.map((bytes) => bytes.toString('hex')),
]

export const earlyStatusesOf = (db: Db, person: KnownPerson, bytesInIds: readonly Buffer[]) =>
  db.rows<{ sender_id: string }>(
    `select sender_id, wa_message_id, status, occurred_at, error, recipient_user_id, pricing from early_statuses
     where ${isEarlyOfPerson} order by occurred_at, wa_message_id`,
    earlyParametersOf(person, bytesInIds),
  )

export const deleteEarlyOf = (db: Db, person: KnownPerson, bytesInIds: readonly Buffer[]): Promise<number> =>
  db.change(`delete from early_statuses where ${isEarlyOfPerson}`, earlyParametersOf(person, bytesInIds))
