import type {
  CreditEntry,
  CreditsReply,
  CreditUsage,
  EntryKind,
  StatementFilters,
} from '@parley/contract/console/credits'
import { type ListTotal, valuesOf } from '@parley/contract/console/list'
import { boundedTotal } from '../../db/bounded-total.ts'
import type { Db } from '../../db/db.ts'
import type { Cell } from '../../lib/csv.ts'
import { exportNewestFirst } from '../../lib/csv-export.ts'
import { withPrefix } from '../../lib/ids.ts'
import type { KeySet } from '../../lib/key-set.ts'
import { changeSettings, readSettings } from '../workspaces/settings.ts'
import { countEntries, daysOf, type EntryFilters, filteredEntries } from './console.sql.ts'
import { type EntryRow, hadCredits, readBalance } from './credits.ts'
import { listPrices } from './prices.ts'

const usageDays = 30

export async function readCredits(db: Db, workspaceId: string): Promise<CreditsReply> {
  const { lowBalance } = await readSettings(db, workspaceId)
  const balance = await readBalance(db, workspaceId)
  return { balance, low_balance: lowBalance, had_credits: balance > 0 || (await hadCredits(db, workspaceId)) }
}

export const readUsage = async (db: Db, now: Date, workspaceId: string): Promise<CreditUsage> => ({
  days: await daysOf(db, workspaceId, now, usageDays),
  prices: await listPrices(db),
})

/** Returns the previous value. */
export async function changeLowBalance(db: Db, workspaceId: string, lowBalance: number): Promise<number> {
  const { before } = await changeSettings(db, workspaceId, { low_balance: lowBalance })
  return before.lowBalance
}

export const listEntries = (
  db: Db,
  workspaceId: string,
  filters: StatementFilters,
  page: KeySet,
): Promise<EntryRow[]> => filteredEntries(db, workspaceId, toFilters(filters), page)

export const totalOfEntries = (db: Db, workspaceId: string, filters: StatementFilters): Promise<ListTotal> =>
  boundedTotal(db, (tx, atMost) => countEntries(tx, workspaceId, toFilters(filters), atMost))

/** The statement, newest first. */
export const exportEntries = (db: Db, workspaceId: string, filters: StatementFilters): AsyncIterable<string> =>
  exportNewestFirst({
    head: ['time', 'kind', 'amount', 'balance after', 'message', 'note', 'id'],
    rows: (page) => filteredEntries(db, workspaceId, toFilters(filters), page),
    positionOf: markOf,
    toLines: (row) => [toLine(row)],
  })

export const markOf = (row: EntryRow) => ({ at: row.created_at, id: row.id })

export const toEntry = (row: EntryRow): CreditEntry => ({
  ...row,
  message_id: row.message_id && withPrefix('msg', row.message_id),
  created_at: row.created_at.toISOString(),
})

function toLine(row: EntryRow): Cell[] {
  const { created_at, kind, amount, balance_after, message_id, note, id } = toEntry(row)
  return [created_at, kind, amount, balance_after, message_id, note, id]
}

const toFilters = ({ kind, from, to }: StatementFilters): EntryFilters => ({
  kinds: valuesOf<EntryKind>(kind),
  from: from === undefined ? undefined : new Date(from),
  to: to === undefined ? undefined : new Date(to),
})
