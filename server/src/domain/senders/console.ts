import type { ConsoleSender, SenderFilters } from '@parley/contract/console/senders'
import type { Db } from '../../db/db.ts'
import { exportAll } from '../../lib/csv-export.ts'
import { hasText, isOneOf } from '../../lib/list-filters.ts'
import { type ConsoleSenderRow, listConsoleSenders } from './console.sql.ts'
import { toSender } from './senders.ts'

export const listForConsole = async (
  db: Db,
  workspaceId: string,
  { q, status, quality }: SenderFilters = {},
): Promise<ConsoleSender[]> =>
  (await listConsoleSenders(db, workspaceId))
    .map(toConsoleSender)
    .filter(
      (sender) =>
        hasText(q, sender.display_name, sender.phone_number, sender.id, sender.connection.account) &&
        isOneOf(status, sender.status) &&
        isOneOf(quality, sender.quality_rating),
    )

export const exportSenders = (db: Db, workspaceId: string, filters: SenderFilters): AsyncIterable<string> =>
  exportAll({
    head: [
      ...['id', 'phone_number', 'display_name', 'status', 'status_reason', 'quality_rating', 'throughput', 'account'],
      ...['messaging_limit', 'name_status', 'verification_status', 'has_pin'],
      ...['created_at', 'last_sent_at', 'last_received_at'],
    ],
    rows: () => listForConsole(db, workspaceId, filters),
    toLine: (sender) => [
      ...[sender.id, sender.phone_number, sender.display_name, sender.status, sender.status_reason],
      ...[sender.quality_rating, sender.throughput, sender.connection.account],
      ...[sender.messaging_limit, sender.name_status, sender.verification_status, sender.has_pin],
      ...[sender.created_at, sender.last_sent_at, sender.last_received_at],
    ],
  })

const toConsoleSender = (row: ConsoleSenderRow): ConsoleSender => ({
  ...toSender(row),
  throughput: row.throughput,
  messaging_limit: row.messaging_limit,
  name_status: row.name_status,
  requested_name: row.requested_name,
  requested_name_status: row.requested_name_status,
  verification_status: row.verification_status,
  has_pin: row.has_pin,
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
