import type { ConsoleSender } from '@parley/contract/console/senders'
import type { Db } from '../../db/db.ts'
import { type ConsoleSenderRow, listConsoleSenders } from './console.sql.ts'
import { toSender } from './senders.ts'

export const listForConsole = async (db: Db, workspaceId: string): Promise<ConsoleSender[]> =>
  (await listConsoleSenders(db, workspaceId)).map(toConsoleSender)

const toConsoleSender = (row: ConsoleSenderRow): ConsoleSender => ({
  ...toSender(row),
  throughput: row.throughput,
  status_reason: row.status_reason,
  connection: {
    id: row.connection_id,
    account: row.account,
    status: row.account_status,
    status_reason: row.account_status_reason,
    status_until: row.account_status_until?.toISOString() ?? null,
    synced_at: row.synced_at?.toISOString() ?? null,
    sync_error: row.sync_error,
  },
  last_sent_at: row.last_sent_at?.toISOString() ?? null,
  last_received_at: row.last_received_at?.toISOString() ?? null,
})
