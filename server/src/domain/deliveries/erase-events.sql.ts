import type { Db } from '../../db/db.ts'
import { type KnownPerson, personValues } from '../../whatsapp/incoming/split-by-person.ts'

export interface ErasedEvent {
  id: string
  createdAt: Date
}

/** Deletes the events about messages, of which none is older than `since`. */
export const deleteEventsOf = (db: Db, workspaceId: string, messageIds: readonly string[], since: Date) =>
  db.rows<ErasedEvent>(
    `delete from events where workspace_id = $1 and message_id = any($2::uuid[]) and created_at >= $3
     returning id, created_at as "createdAt"`,
    [workspaceId, messageIds, since],
  )

const data = (field: string) => `convert_from(body, 'UTF8')::json #>> '{data,${field}}'`

/**
 * The events that name a person and are not about a message. The types are literals, so that PostgreSQL reads the index of rare
 * types only.
 */
const namesPerson = `workspace_id = $1 and type in ('contact.preference_changed', 'conversation.control_changed')
       and ((${data('from')} = any($2::text[]) and ($4 or ${data('from_user_id')} is null))
         or ((not $4 or ${data('from')} is null) and ${data('from_user_id')} = any($3::text[])))`

export const deleteEventsNaming = (db: Db, person: KnownPerson): Promise<ErasedEvent[]> =>
  db.rows(`delete from events where ${namesPerson} returning id, created_at as "createdAt"`, personValues(person))

/** Their bodies, as they are sent. */
export const preferenceEventsNaming = async (db: Db, person: KnownPerson): Promise<string[]> =>
  (
    await db.rows<{ body: string }>(
      `select convert_from(body, 'UTF8') as body from events where ${namesPerson} order by created_at, id`,
      personValues(person),
    )
  ).map(({ body }) => body)

/** The next events with network updates that match one of these patterns. Reads all of them. */
export const updateEventsWith = (
  db: Db,
  workspaceId: string,
  patterns: readonly string[],
  after: ErasedEvent,
  take: number,
): Promise<(ErasedEvent & { body: string })[]> =>
  db.rows(
    `select id, created_at as "createdAt", convert_from(body, 'UTF8') as body from events
     where workspace_id = $1 and type = 'network.update' and convert_from(body, 'UTF8') ~ any($2::text[])
       and (created_at, id) > ($3, $4::uuid)
     order by created_at, id limit $5`,
    [workspaceId, patterns, after.createdAt, after.id, take],
  )

export const deleteUpdateEvents = (db: Db, workspaceId: string, ids: readonly string[]): Promise<ErasedEvent[]> =>
  db.rows(
    `delete from events where workspace_id = $1 and type = 'network.update' and id = any($2::uuid[])
     returning id, created_at as "createdAt"`,
    [workspaceId, ids],
  )

/** Deletes the open deliveries of events, except locked ones, which are being recorded or claimed. */
export const deleteDeliveriesOf = (db: Db, workspaceId: string, eventIds: readonly string[]): Promise<number> =>
  db.change(
    `with open as materialized (
       select d.webhook_id, d.event_id from webhooks w cross join unnest($2::uuid[]) as e(id)
       cross join lateral (
         select d.webhook_id, d.event_id from deliveries d where d.webhook_id = w.id and d.event_id = e.id
         for update skip locked) as d
       where w.workspace_id = $1
     )
     delete from deliveries d using open where d.webhook_id = open.webhook_id and d.event_id = open.event_id`,
    [workspaceId, eventIds],
  )

/** Whether events have deliveries. `offset 0` makes PostgreSQL look up each by its key. */
export const hasDeliveriesOf = async (db: Db, workspaceId: string, eventIds: readonly string[]): Promise<boolean> =>
  (await db.first(
    `select 1 as one from webhooks w cross join unnest($2::uuid[]) as e(id)
     cross join lateral (
       select 1 from deliveries d where d.webhook_id = w.id and d.event_id = e.id offset 0) as d
     where w.workspace_id = $1 limit 1`,
    [workspaceId, eventIds],
  )) !== undefined

/** Removes the responses of receivers, which may repeat the event. The attempts stay. No response is older than `since`. */
export const eraseResponsesOf = (db: Db, workspaceId: string, eventIds: readonly string[], since: Date) =>
  db.change(
    `update delivery_attempts set answer = '', response_headers = null
     where workspace_id = $1 and event_id = any($2::uuid[]) and at >= $3
       and (answer <> '' or response_headers is not null)`,
    [workspaceId, eventIds, since],
  )

export const eventsAbout = (db: Db, workspaceId: string, messageIds: readonly string[], since: Date) =>
  db.rows<{ messageId: string; body: string }>(
    `select message_id as "messageId", convert_from(body, 'UTF8') as body from events
     where workspace_id = $1 and message_id = any($2::uuid[]) and created_at >= $3 order by created_at, id`,
    [workspaceId, messageIds, since],
  )
