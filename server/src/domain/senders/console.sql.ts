import type { Db } from '../../db/db.ts'
import type { SenderRow } from './senders.sql.ts'

export type ConsoleSenderRow = SenderRow & {
  throughput: string | null
  connection_id: string
  account: string
  synced_at: Date | null
  sync_error: string | null
  last_sent_at: Date | null
  last_received_at: Date | null
}

/** Each with its account and the times of its last sent and received messages. Deleted senders come last. */
export const listConsoleSenders = (db: Db, workspaceId: string): Promise<ConsoleSenderRow[]> =>
  db.rows(
    `select s.id, s.phone_number, s.display_name, s.status, s.quality_rating, s.created_at, s.throughput,
       s.connection_id, c.waba_id as account, c.synced_at, c.sync_error,
       (select m.created_at from messages m where m.sender_id = s.id
        order by m.created_at desc, m.id desc limit 1) as last_sent_at,
       (select m.recorded_at from inbound_messages m where m.sender_id = s.id
        order by m.recorded_at desc, m.id desc limit 1) as last_received_at
     from senders s join connections c on c.id = s.connection_id
     where s.workspace_id = $1 order by s.status = 'DELETED', s.created_at, s.id limit 1000`,
    [workspaceId],
  )
