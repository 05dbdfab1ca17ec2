import type { MessageError, MessagePricing } from '@parley/contract/events'
import type { Db } from '../../../db/db.ts'
import { statement } from '../../../db/statement.ts'
import type { NetworkStatus } from '../../../whatsapp/incoming/status-rank.ts'

/** A status that arrived before its message was known. */
export interface EarlyStatus {
  senderId: string
  workspaceId: string
  waMessageId: string
  status: NetworkStatus
  occurredAt: Date
  error: MessageError | null
  /** The recipient's user ID, if the network reported it. */
  recipientUserId: string | null
  pricing: MessagePricing | null
}

/**
 * Returns how many were not known yet. If `onlyAt` is given and is not the current routing revision, nothing is stored.
 */
export const insertEarly = statement(
  {
    early: {
      senderId: 'uuid',
      workspaceId: 'uuid',
      waMessageId: 'text',
      status: 'text',
      occurredAt: 'timestamptz',
      error: 'json',
      recipientUserId: 'text',
      pricing: 'json',
    },
    now: 'timestamptz',
    onlyAt: 'bigint',
  },
  ({ early, now, onlyAt }) => `insert into early_statuses (${early.columns}, recorded_at)
     select early.*, ${now} from routing_revision r, ${early} where r.value = coalesce(${onlyAt}, r.value)
     order by early.sender_id, early.wa_message_id, early.status
     on conflict do nothing`,
).change

/** A message by the network's ID. */
export interface MessageKey {
  senderId: string
  waMessageId: string
}

/** The early statuses of these messages. Run within `withIndexLookups`. */
export const earlyOf = statement(
  { messages: { senderId: 'uuid', waMessageId: 'text' } },
  // The subquery makes PostgreSQL look up each message, by the index within `withIndexLookups`. It would read all early
  // statuses for each message, if it planned the statement while there were few.
  ({
    messages,
  }) => `select e.sender_id as "senderId", e.workspace_id as "workspaceId", e.wa_message_id as "waMessageId",
       e.status, e.occurred_at as "occurredAt", e.error, e.recipient_user_id as "recipientUserId", e.pricing
     from ${messages} cross join lateral (
       select * from early_statuses e
       where e.sender_id = messages.sender_id and e.wa_message_id = messages.wa_message_id offset 0) as e`,
).rows<EarlyStatus>

export interface EarlyKey extends MessageKey {
  status: string
}

export const deleteEarly = statement(
  { early: { senderId: 'uuid', waMessageId: 'text', status: 'text' } },
  ({ early }) => `delete from early_statuses e using ${early}
     where (e.sender_id, e.wa_message_id, e.status) = (early.sender_id, early.wa_message_id, early.status)`,
).change

export interface LookedEarly extends EarlyKey {
  /** Whether the message is known now. */
  isKnown: boolean
}

const looking = (rows: string): string => `select e.sender_id as "senderId", e.wa_message_id as "waMessageId", e.status,
       m.id is not null as "isKnown"
     from (select sender_id, wa_message_id, status from early_statuses ${rows}) as e
     left join lateral (
       select id from messages m where m.sender_id = e.sender_id and m.wa_message_id = e.wa_message_id limit 1
     ) as m on true`

export const newestEarly = (db: Db, limit: number): Promise<LookedEarly[]> =>
  db.rows(looking('order by recorded_at desc limit $1'), [limit])

/** The early statuses that follow a key, in the order of their keys. */
export const nextEarly = (db: Db, { senderId, waMessageId, status }: EarlyKey, limit: number): Promise<LookedEarly[]> =>
  db.rows(
    looking(`where (sender_id, wa_message_id, status) > ($1::uuid, $2, $3)
       order by sender_id, wa_message_id, status limit $4`),
    [senderId, waMessageId, status, limit],
  )

/** Deletes the oldest early statuses that were recorded before a time, at most `limit`. */
export const deleteEarlyBefore = (db: Db, before: Date, limit: number): Promise<number> =>
  db.change(
    `delete from early_statuses where ctid = any(array(
       select ctid from early_statuses where recorded_at < $1 order by recorded_at limit $2 for update skip locked))`,
    [before, limit],
  )
