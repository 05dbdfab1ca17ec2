import type { Db } from '../../db/db.ts'
import { withPlannerSettingsOff } from '../../db/planner-settings.ts'
import type { TimeBuckets } from '../../lib/time-buckets.ts'
import type { SenderRow } from './senders.sql.ts'

export type ConsoleSenderRow = SenderRow & {
  throughput: string | null
  messaging_limit: string | null
  name_status: string | null
  requested_name: string | null
  requested_name_status: string | null
  verification_status: string | null
  has_pin: boolean | null
  status_reason: string | null
  connection_id: string
  account: string
  account_status: string
  account_status_reason: string | null
  account_status_until: Date | null
  synced_at: Date | null
  sync_error: string | null
  last_sent_at: Date | null
  last_received_at: Date | null
}

/**
 * One sender or all (null), each with its account and the times of its last sent and received messages. Deleted senders come
 * last.
 */
export const listConsoleSenders = (db: Db, workspaceId: string, id: string | null): Promise<ConsoleSenderRow[]> =>
  db.rows(
    `select s.id, s.phone_number, s.display_name, s.status, s.quality_rating, s.created_at, s.throughput,
       s.messaging_limit, s.name_status, s.requested_name, s.requested_name_status, s.verification_status, s.has_pin,
       s.status_reason, s.connection_id, c.waba_id as account, c.status as account_status,
       c.status_reason as account_status_reason, c.status_until as account_status_until, c.synced_at, c.sync_error,
       (select m.created_at from messages m where m.workspace_id = s.workspace_id and m.sender_id = s.id
        order by m.created_at desc, m.id desc limit 1) as last_sent_at,
       (select m.recorded_at from inbound_messages m where m.sender_id = s.id and m.source is null
        order by m.recorded_at desc, m.id desc limit 1) as last_received_at
     from senders s join connections c on c.id = s.connection_id
     where s.workspace_id = $1 and ($2::uuid is null or s.id = $2)
     order by s.status = 'DELETED', s.created_at, s.id limit 1000`,
    [workspaceId, id],
  )

export interface VolumeRow {
  at: Date
  accepted: number
  queued: number
  failed: number
  received: number
  /** Of these, the messages that the business wrote elsewhere. */
  echoes: number
}

/**
 * Counts the messages of a sender in each time bucket, from indexes. The subqueries read at most `atMost` rows of a bucket:
 * the rare ones, of all senders, have indexes of their own.
 */
export const volumeByBucket = (
  db: Db,
  workspaceId: string,
  senderId: string,
  { starts, hours }: TimeBuckets,
  atMost: number,
): Promise<VolumeRow[]> => {
  const some = (columns: string, table: string, time: string, condition: string) =>
    `(select ${columns} from ${table} where workspace_id = $1 and ${time} >= s.at and ${time} < b.until
      and ${condition} limit $5::int) as m`
  return withPlannerSettingsOff(['sort', 'seqscan', 'bitmapscan'], db, (tx) =>
    tx.rows(
      `select s.at,
         (select count(*) from ${some('1', 'messages', 'created_at', 'sender_id = $2')}) as accepted,
         (select count(*) from ${some('sender_id, status', 'messages', 'created_at', 'wa_message_id is null and failed_at is null')}
          where m.sender_id = $2 and m.status = 'queued') as queued,
         (select count(*) from ${some('sender_id, status', 'messages', 'created_at', 'failed_at is not null')}
          where m.sender_id = $2 and m.status = 'failed') as failed,
         (select count(*) from ${some('1', 'inbound_messages', 'recorded_at', 'sender_id = $2')}) as received,
         (select count(*) from ${some('sender_id', 'inbound_messages', 'recorded_at', 'source is not null')}
          where m.sender_id = $2) as echoes
       from unnest($3::timestamptz[]) as s(at)
       cross join lateral (select s.at + make_interval(hours => $4::int) as until) as b`,
      [workspaceId, senderId, starts, hours, atMost],
    ),
  )
}

/** The people that a template was sent to, and the most messages sent within a second, among the latest messages. */
export const latestUse = (
  db: Db,
  workspaceId: string,
  senderId: string,
  since: Date,
  atMost: number,
): Promise<{ people: number; peak: number; messages: number } | undefined> =>
  withPlannerSettingsOff(['seqscan', 'bitmapscan'], db, (tx) =>
    tx.first(
      `with latest as materialized (
         select recipient, type, status, sent_at from messages
         where workspace_id = $1 and sender_id = $2 and created_at >= $3
         order by created_at desc, id desc limit $4::int)
       select (select count(*) from latest) as messages,
         (select count(distinct recipient) from latest
          where type = 'template' and status not in ('queued', 'failed')) as people,
         (select coalesce(max(count), 0) from (select count(*) from latest where sent_at is not null
          group by date_trunc('second', sent_at)) as seconds) as peak`,
      [workspaceId, senderId, since, atMost],
    ),
  )
