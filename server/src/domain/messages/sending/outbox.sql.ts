import type { MessageError } from '@parley/contract/events'
import type { Db } from '../../../db/db.ts'
import { oneWithIndexLookups, oneWithKeyLookups } from '../../../db/planner-settings.ts'
import { statement } from '../../../db/statement.ts'
import type { NetworkTemplate } from '../../../whatsapp/outgoing/variables.ts'
import type { DueNumber } from './due-numbers.ts'
import { movedSql, pacedSql, paceLeftSql, paceParameters } from './pace.sql.ts'
import type { Content } from './send.sql.ts'

/** Senders with due messages and without a hold. The recursive CTE finds them by one index lookup per sender. */
export const dueSenders = (db: Db, now: Date): Promise<DueNumber[]> =>
  db.rows(
    `with recursive busy as (
       (select sender_id from outbox where state = 'waiting' order by sender_id limit 1)
       union all
       select (select o.sender_id from outbox o where o.state = 'waiting' and o.sender_id > b.sender_id
               order by o.sender_id limit 1)
       from busy b where b.sender_id is not null)
     select s.id, s.workspace_id as "workspaceId", s.connection_id as "connectionId", s.throughput from busy b join senders s on s.id = b.sender_id
     where exists (
         select 1 from outbox o where o.state = 'waiting' and o.sender_id = s.id and o.due_at <= $1)
       and not exists (
         select 1 from sending_holds h where h.subject_id in (s.id, s.connection_id, s.app_id) and h.until > $1)`,
    [now],
  )

/** How many messages to claim for a sender: at most `maxCount`, limited by its pace. */
export interface SenderQuota {
  senderId: string
  /** Seconds between two messages. */
  gapSeconds: number
  /** How many may be sent at the same time after a pause. */
  burst: number
  maxCount: number
}

/** A message that only this process may send, as long as the outbox has its lease. */
export interface ClaimedMessage {
  messageId: string
  lease: string
  senderId: string
  connectionId: string
  appId: string
  phoneNumberId: string
  workspaceId: string
  recipient: string
  recipientUserId: string | null
  reference: string | null
  createdAt: Date
  /** Calls made so far. */
  attempts: number
  content: Content
  template: NetworkTemplate | null
  /** Failures in a row of the sender, its connection and its app, by their ID. */
  failures: Record<string, number> | null
}

/** Inserts the pace of senders that have not sent yet. */
export const insertPaces = (db: Db, senderIds: readonly string[]): Promise<number> =>
  db.change(
    `insert into sender_paces (sender_id, workspace_id, paced_until)
     select id, workspace_id, '-infinity' from senders where id = any($1::uuid[]) order by id on conflict do nothing`,
    [senderIds],
  )

const claiming = statement(
  { ...paceParameters, leaseUntil: 'timestamptz', lease: 'uuid' },
  ({ quotas, now, leaseUntil, lease }) => `with ${pacedSql({ quotas, now })}, picked as materialized (
       select o.message_id, r.sender_id from paced r cross join lateral (
         select o.message_id from outbox o
         where o.state = 'waiting' and o.sender_id = r.sender_id and o.due_at <= ${now}
         order by o.due_at, o.message_id
         limit ${paceLeftSql(now)}
         for update skip locked) o
     ), ${movedSql}, claimed as (
       update outbox o set state = 'claimed', due_at = ${leaseUntil}, lease = ${lease}
       from picked where o.message_id = picked.message_id
       returning o.message_id, o.sender_id, o.attempts
     )
     select o.message_id as "messageId", ${lease} as lease, s.id as "senderId", s.connection_id as "connectionId",
       s.app_id as "appId", s.phone_number_id as "phoneNumberId", m.workspace_id as "workspaceId", m.recipient,
       m.recipient_user_id as "recipientUserId", m.reference, m.created_at as "createdAt", o.attempts, m.content,
       case when t.id is not null then json_build_object('name', t.name, 'language', t.language, 'category', t.category,
         'components', t.components) end as template,
       (select json_object_agg(h.subject_id, h.failures) from sending_holds h
        where h.subject_id in (s.id, s.connection_id, s.app_id)) as failures
     from (select set_config('synchronous_commit', 'off', true)) as without_waiting,
       claimed o join messages m on m.id = o.message_id join senders s on s.id = o.sender_id
       left join templates t on t.id = m.template_id
     order by o.message_id`,
)

/**
 * Leases due messages, as many per sender as its pace allows. Skips senders with a hold, and senders that another
 * process is claiming from at the same time. It does not wait for the disk: marking a message as calling does, which
 * writes its claim too. If PostgreSQL crashes before that, the lease and the pace are undone, nothing was sent, and
 * this process cannot mark the message.
 */
export const claimDue = (
  db: Db,
  quotas: readonly SenderQuota[],
  now: Date,
  leaseUntil: Date,
  lease: string,
): Promise<ClaimedMessage[]> => oneWithIndexLookups(db, (tx) => claiming.rows(tx, { quotas, now, leaseUntil, lease }))

const leased = { messageId: 'uuid', lease: 'uuid' } as const

// "is true" keeps PostgreSQL from the index of all messages under way, which has the same condition.
const isLeased = (states = "'claimed', 'calling'") =>
  `o.message_id = leased.message_id and o.lease = leased.lease and (o.state in (${states})) is true`

const calling = statement(
  { leased: { ...leased, attempts: 'int' }, until: 'timestamptz' },
  ({ leased, until }) => `update outbox o set state = 'calling', attempts = leased.attempts + 1, due_at = ${until}
     from ${leased} where ${isLeased()} returning o.message_id`,
)

/**
 * Commits that the calls may be made from now on. Only make the calls of returned rows: the other leases have expired. It can
 * be repeated as long as the call was not made: only the process with the lease makes it.
 */
export const markCalling = (
  db: Db,
  rows: readonly Pick<ClaimedMessage, 'messageId' | 'lease' | 'attempts'>[],
  until: Date,
): Promise<{ message_id: string }[]> => oneWithKeyLookups(db, (tx) => calling.rows(tx, { leased: rows, until }))

/** Puts messages that were not sent back in the queue. */
export const requeue = statement(
  { leased: { ...leased, dueAt: 'timestamptz', error: 'json', attempts: 'int' } },
  ({
    leased,
  }) => `update outbox o set state = 'waiting', lease = null, due_at = leased.due_at, attempts = leased.attempts,
       last_error = coalesce(leased.error, o.last_error)
     from ${leased} where ${isLeased()}`,
).change

/**
 * Returns claims, so that another process can send the messages. Messages that are marked as calling stay: their
 * request may have begun. A returned message cannot be marked any more.
 */
export const returnClaims = statement(
  { leased, now: 'timestamptz' },
  ({ leased, now }) => `update outbox o set state = 'waiting', lease = null, due_at = ${now}
     from ${leased} where ${isLeased("'claimed'")}`,
).change

/** Marks messages that may have been sent. They fail if no status arrives before `until`. */
export const markUnknown = statement(
  { leased, until: 'timestamptz' },
  ({ leased, until }) => `update outbox o set state = 'unknown', due_at = ${until}
     from ${leased} where ${isLeased("'calling'")}`,
).change

/** Messages with an expired lease become waiting, or unknown if the call may have been made. Late messages expire. */
export async function recoverExpiredLeases(db: Db, now: Date, unknownUntil: Date): Promise<void> {
  await db.change(
    `update outbox set state = case state when 'calling' then 'unknown' else 'waiting' end,
       due_at = case state when 'calling' then $2 else $1 end
     where state in ('claimed', 'calling') and state <> 'waiting' and due_at <= $1`,
    [now, unknownUntil],
  )
  await db.change(`update outbox set state = 'expired', due_at = $1 where state = 'waiting' and expires_at <= $1`, [
    now,
  ])
}

export interface OutboxCount {
  state: 'waiting' | 'claimed' | 'calling' | 'unknown' | 'expired'
  count: number
  /** When the oldest due row became due. */
  oldestDueAt: Date | null
}

/** Counts the outbox of all workspaces by state. */
export const countOutbox = (db: Db, now: Date): Promise<OutboxCount[]> =>
  db.rows(
    `select state, count(*)::int as count, min(due_at) filter (where due_at <= $1) as "oldestDueAt"
     from outbox group by state order by state`,
    [now],
  )

export interface ExpiredSend {
  messageId: string
  workspaceId: string
  senderId: string
  state: 'unknown' | 'expired'
  lastError: MessageError | null
}

export const expiredSends = (db: Db, now: Date, limit: number): Promise<ExpiredSend[]> =>
  db.rows(
    `select message_id as "messageId", workspace_id as "workspaceId", sender_id as "senderId", state,
       last_error as "lastError"
     from outbox where state in ('unknown', 'expired') and state <> 'waiting' and due_at <= $1
     order by due_at limit $2`,
    [now, limit],
  )
