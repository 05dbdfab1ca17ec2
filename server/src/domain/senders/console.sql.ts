import type { Db } from '../../db/db.ts'
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

/** Each with its account and the times of its last sent and received messages. Deleted senders come last. */
export const listConsoleSenders = (db: Db, workspaceId: string): Promise<ConsoleSenderRow[]> =>
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
     where s.workspace_id = $1 order by s.status = 'DELETED', s.created_at, s.id limit 1000`,
    [workspaceId],
  )
