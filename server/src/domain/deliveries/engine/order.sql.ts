/** The order of a conversation. See `order.ts`. */
import type { Db } from '../../../db/db.ts'
import { oneWithOrderedLookups, withIndexLookups } from '../../../db/planner-settings.ts'
import { statement } from '../../../db/statement.ts'
import type { ClaimedRow } from './claim/claim.sql.ts'
import type { Conversation, Lease } from './first-attempts.ts'
import { planVisitsSql } from './visits.sql.ts'

/** Locks of conversations have keys of two numbers, of which this is the first. All other advisory locks have one number. */
const lockSpace = 31

/** How many deliveries of a conversation without order start together. The others follow when one of these has ended. */
const withoutOrderMax = 100

const columns = { webhookId: 'uuid', conversation: 'uuid' } as const

export type ConversationKey = Pick<Conversation, 'webhookId' | 'conversation'>

/** Locks in order, so that no two transactions deadlock. Conversations with the same hash wait for each other without harm. */
const locking = statement(
  { conversations: columns },
  ({ conversations }) => `select pg_advisory_xact_lock(${lockSpace}, key) from (
       select distinct hashtext(webhook_id::text || conversation::text) as key from ${conversations} order by key) as keys`,
)

/**
 * Starts the first of the deliveries that wait in each conversation, unless one is in progress. If the endpoint has no order
 * any more, the first hundred start in any case: they were added by transactions that did not know it. Each conversation costs
 * three index lookups, however many deliveries wait. Deliveries are locked in the order of `lock-endpoints.sql.ts`.
 */
const starting = statement(
  {
    now: 'timestamptz',
    lease: 'uuid',
    leaseUntil: 'timestamptz',
    except: 'uuid[]',
    conversations: columns,
  },
  ({ now, lease, leaseUntil, except, conversations }) => `with asked as materialized (
       select distinct conversations.* from ${conversations}
     ), looked as (
       delete from conversation_looks l using asked a
       where l.webhook_id = a.webhook_id and l.conversation = a.conversation
     ), next as materialized (
       select w.id as webhook_id, w.enabled, d.event_id, ${lease} is not null and w.enabled and w.next_attempt_at is null
           and w.id <> all(${except}) as is_ours
       from asked a
       join webhooks w on w.id = a.webhook_id and w.deleted_at is null
       cross join lateral (
         select event_id from deliveries d
         where d.webhook_id = a.webhook_id and d.conversation = a.conversation and d.due_at = 'infinity'
         order by d.position, d.event_id limit case when w.ordering = 'none' then ${withoutOrderMax} else 1 end) as d
       where w.ordering = 'none' or not exists (
         select from deliveries o
         where o.webhook_id = a.webhook_id and o.conversation = a.conversation and o.due_at < 'infinity')
       order by w.id, d.event_id
     ), started as (
       update deliveries d set lease = case when n.is_ours then ${lease} end,
         due_at = case when n.is_ours then ${leaseUntil} else ${now} end
       -- "is true" keeps PostgreSQL from looking it up by its due time.
       from next n where d.webhook_id = n.webhook_id and d.event_id = n.event_id and (d.due_at = 'infinity') is true
       returning d.*, n.enabled
     ), new_visits as (${planVisitsSql('(select * from started where enabled)')}
     )
     select s.event_id as "eventId", s.webhook_id as "webhookId", s.workspace_id as "workspaceId",
       s.event_created_at as "eventCreatedAt", s.attempts, s.trigger, false as "hasTurn", s.conversation,
       s.replay_id as "replayId", e.type, e.body, s.lease is not null as leased
     from started s
     left join lateral (
       select type, body from events where id = s.event_id and created_at = s.event_created_at limit 1) as e on true`,
)

export interface StartedRow extends ClaimedRow {
  leased: boolean
}

/**
 * The locks come first, in a statement of their own. So the next statement sees everything that earlier owners of the locks
 * have committed. All statements are sent together, so that the locks do not wait for this process.
 */
export const startWaiting = (
  db: Db,
  conversations: readonly ConversationKey[],
  now: Date,
  { token, until, except }: Lease,
): Promise<StartedRow[]> =>
  oneWithOrderedLookups(db, async (tx) => {
    const input = { conversations, now, lease: token, leaseUntil: until, except }
    const [, started] = await Promise.all([locking.rows(tx, { conversations }), starting.rows<StartedRow>(tx, input)])
    return started
  })

/**
 * Looks at the next conversations in which deliveries wait, in the order of their keys, and adds a look for each in which none is
 * in progress. Returns the last of them, and null at the end.
 */
export const addMissingLooks = (db: Db, after: ConversationKey | null, now: Date, limit: number) =>
  withIndexLookups(db, (tx) =>
    tx.first<ConversationKey & { count: number }>(
      `with recursive waiting as (
         select * from (
           select webhook_id, conversation, 1 as count from deliveries
           where conversation is not null and due_at = 'infinity' and (webhook_id, conversation) > ($1::uuid, $2::uuid)
           order by webhook_id, conversation limit 1) as first
         union all
         select next.*, w.count + 1 from waiting w
         cross join lateral (
           select webhook_id, conversation from deliveries
           where conversation is not null and due_at = 'infinity'
             and (webhook_id, conversation) > (w.webhook_id, w.conversation)
           order by webhook_id, conversation limit 1) as next
         where w.count < $4
       ), added as (
         insert into conversation_looks (webhook_id, conversation, workspace_id, look_at)
         select w.webhook_id, w.conversation, e.workspace_id, $3::timestamptz
         from waiting w join webhooks e on e.id = w.webhook_id and e.deleted_at is null
         where not exists (
           select from deliveries o
           where o.webhook_id = w.webhook_id and o.conversation = w.conversation and o.due_at < 'infinity')
       )
       select webhook_id as "webhookId", conversation, count from waiting order by count desc limit 1`,
      [after?.webhookId ?? first, after?.conversation ?? first, now, limit],
    ),
  )

const first = '00000000-0000-0000-0000-000000000000'

/**
 * Conversations to look at, the longest wait first: mostly because a process has died, but also some that another process is
 * about to look at.
 */
export const missedLooks = (db: Db, limit: number): Promise<Conversation[]> =>
  db.rows(
    `select workspace_id as "workspaceId", webhook_id as "webhookId", conversation from conversation_looks
     order by look_at limit $1`,
    [limit],
  )

/** Deliveries of an endpoint that wait for another of their conversation. Only if it has no order any more. */
export const waitingWithoutOrder = `select event_id from deliveries
         where webhook_id = $1 and conversation is not null and due_at = 'infinity'
           and (select ordering from webhooks where id = $1) = 'none'`
