import type {
  CreditEntry,
  CreditsReply,
  CreditUsage,
  EntryKind,
  StatementFilters,
} from '@parley/contract/console/credits'
import { valuesOf } from '@parley/contract/console/list'
import type { Db } from '../../db/db.ts'
import type { PagedList } from '../../db/paged-list.ts'
import { withPrefix } from '../../lib/ids.ts'
import { changeSettings, readSettings } from '../workspaces/settings.ts'
import { daysOf, entryListOf } from './console.sql.ts'
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

/** The statement. */
export const entries: PagedList<StatementFilters, EntryRow, CreditEntry> = {
  rows(db, workspaceId, { kind, from, to }, page) {
    const kinds = valuesOf<EntryKind>(kind) ?? []
    return entryListOf(kinds).rows(db, { workspaceId, kinds, from, to }, page)
  },
  total(db, workspaceId, { kind, from, to }) {
    const kinds = valuesOf<EntryKind>(kind) ?? []
    return entryListOf(kinds).total(db, { workspaceId, kinds, from, to })
  },
  toItem: (row) => ({
    ...row,
    message_id: row.message_id && withPrefix('msg', row.message_id),
    created_at: row.created_at.toISOString(),
  }),
  head: ['time', 'kind', 'amount', 'balance after', 'message', 'note', 'id'],
  toLines: ({ created_at, kind, amount, balance_after, message_id, note, id }) => [
    [created_at, kind, amount, balance_after, message_id, note, id],
  ],
}
