import type { Db } from '../../../../db/db.ts'
import { type Places, statement } from '../../../../db/statement.ts'
import type { Lease } from '../first-attempts.ts'
import { planVisitsSql } from '../visits.sql.ts'

export interface EventRow {
  id: string
  workspaceId: string
  type: string
  body: Buffer
  /** The message it is about. */
  messageId: string | null
  /** The sender it is about. */
  senderId: string | null
  /** The number or user ID of the person it is about. */
  person: string | null
}

export interface PublishedDelivery {
  eventId: string
  webhookId: string
  leased: boolean
  /** Set if it waits until those before it in its conversation have ended. */
  conversation: string | null
}

/** Parameters that every statement with `insertEventsSql` has. */
const eventParameters = {
  createdAt: 'timestamptz',
  leaseUntil: 'timestamptz',
  leaseToken: 'uuid',
  leaseExcept: 'uuid[]',
} as const

/** Deliveries with the same value are in one conversation. Only its uniqueness matters, so half of the hash is enough. */
const conversationOf = (senderId: string, person: string): string =>
  `encode(substring(sha256(convert_to(${senderId} || ' ' || ${person}, 'UTF8')) for 16), 'hex')::uuid`

/**
 * CTEs that insert events and, for each event, a delivery to every endpoint of its workspace that subscribes to its type,
 * leased to this process, and plan the visits of claims. `new_deliveries` returns the deliveries. A disabled endpoint is not
 * visited, so its deliveries wait until it is enabled; a delivery to a failing endpoint is claimed when it is its turn. Events
 * that the filter of an endpoint excludes are only counted. `events` names rows of (id, workspace_id, type, body, message_id, sender_id, person).
 *
 * A delivery of a conversation that is kept in order always waits at first: whether an earlier one is open is only certain
 * after the commit (`order.ts`). Its position is drawn once for the statement, and only if it has such a delivery. So is that
 * of the events, which is the column's default: computed for each event, it would take twice as long to insert.
 */
export const insertEventsSql = (
  events: string,
  { createdAt, leaseUntil, leaseToken, leaseExcept }: Places<typeof eventParameters>,
): string => `
     new_events as (
       insert into events (id, workspace_id, type, body, message_id, sender_id, created_at, position)
       select e.id, e.workspace_id, e.type, e.body, e.message_id, e.sender_id, ${createdAt}, (select new_event_position())
       from ${events} e
     ), fan_out as materialized (
       select e.id as event_id, w.id as webhook_id, e.workspace_id, w.enabled, o.conversation, i.is_wanted,
         case when o.conversation is not null then 'infinity' when i.mine then ${leaseUntil}::timestamptz
           else ${createdAt} end as due_at,
         case when i.mine and o.conversation is null then ${leaseToken}::uuid end as lease
       from ${events} e join webhooks w
         on w.workspace_id = e.workspace_id and e.type = any(w.events) and w.deleted_at is null
       cross join lateral (
         select w.enabled and w.next_attempt_at is null and w.id <> all(${leaseExcept}) as mine,
           w.senders is null or e.sender_id is null or e.sender_id = any(w.senders) as is_wanted) as i
       cross join lateral (
         select case when w.ordering = 'conversation' and e.person is not null and e.sender_id is not null
           then ${conversationOf('e.sender_id::text', 'e.person')} end as conversation) as o
     ), new_deliveries as (
       insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, due_at, lease, conversation, position)
       select event_id, webhook_id, workspace_id, ${createdAt}, due_at, lease, conversation,
         case when conversation is not null then (select nextval('delivery_positions')) end
       from fan_out where is_wanted
       returning event_id, webhook_id, lease is not null as leased, conversation
     ), left_out as (
       insert into left_out_events (workspace_id, webhook_id, hour, count)
       select workspace_id, webhook_id, date_trunc('hour', ${createdAt}::timestamptz, 'UTC'), count(*)
       from fan_out where not is_wanted group by 1, 2
     ), new_visits as (${planVisitsSql('(select * from fan_out where enabled and is_wanted)')}
     )`

const insertion = statement(
  {
    ...eventParameters,
    events: {
      id: 'uuid',
      workspaceId: 'uuid',
      type: 'text',
      body: 'bytea',
      messageId: 'uuid',
      senderId: 'uuid',
      person: 'text',
    },
  },
  ({ events, ...places }) => `with new as materialized (select * from ${events}), ${insertEventsSql('new', places)}
     select event_id as "eventId", webhook_id as "webhookId", leased, conversation from new_deliveries`,
)

export const insertEvents = (
  db: Db,
  createdAt: Date,
  events: readonly EventRow[],
  { token, until, except }: Lease,
): Promise<PublishedDelivery[]> =>
  insertion.rows(db, { createdAt, events, leaseToken: token, leaseUntil: until, leaseExcept: except })

export const deleteDelivery = (db: Db, eventId: string, webhookId: string): Promise<number> =>
  db.change('delete from deliveries where webhook_id = $2 and event_id = $1', [eventId, webhookId])

/** Inserts an event and its delivery to one endpoint, as if `attempts` attempts had been made already. */
export const insertTestEvent = statement(
  {
    id: 'uuid',
    workspaceId: 'uuid',
    webhookId: 'uuid',
    type: 'text',
    body: 'bytea',
    now: 'timestamptz',
  },
  ({ id, workspaceId, webhookId, type, body, now }) => `with event as (
       insert into events (id, workspace_id, type, body, created_at)
       values (${id}, ${workspaceId}, ${type}, ${body}, ${now})
     ), delivery as (
       insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, trigger, due_at)
       values (${id}, ${webhookId}, ${workspaceId}, ${now}, 'manual', ${now})
       returning webhook_id, workspace_id, due_at
     )${planVisitsSql('delivery')}`,
).change
