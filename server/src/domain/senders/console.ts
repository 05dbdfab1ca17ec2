import type { ConsoleSender } from '@parley/contract/console/senders'
import type { Db } from '../../db/db.ts'
import { type ConsoleSenderRow, listConsoleSenders } from './console.sql.ts'
import { toSender } from './senders.ts'

export const listForConsole = async (db: Db, workspaceId: string): Promise<ConsoleSender[]> =>
  (await listConsoleSenders(db, workspaceId)).map(toConsoleSender)

const toConsoleSender = (row: ConsoleSenderRow): ConsoleSender => ({
  ...toSender(row),
  throughput: row.throughput,
  connection: {
    id: row.connection_id,
    account: row.account,
    synced_at: row.synced_at?.toISOString() ?? null,
    sync_error: row.sync_error,
  },
  last_sent_at: row.last_sent_at?.toISOString() ?? null,
  last_received_at: row.last_received_at?.toISOString() ?? null,
})
