import type { EntryKind } from '@parley/contract/console/credits'
import type { Db } from '../../db/db.ts'
import { type KeySet, keySetClause, keySetValues } from '../../lib/key-set.ts'
import type { EntryRow } from './credits.sql.ts'

export interface EntryFilters {
  kind?: EntryKind | undefined
  from?: Date | undefined
  to?: Date | undefined
}

/** A kind is spelled out: the index of the rare ones serves only who names one. */
export const entriesWanted = (
  db: Db,
  workspaceId: string,
  { kind, from, to }: EntryFilters,
  page: KeySet,
): Promise<EntryRow[]> =>
  db.rows(
    `select id, kind, amount, balance_after, message_id, note, created_at from credit_entries
     where workspace_id = $1 and ($2::timestamptz is null or created_at >= $2)
       and ($3::timestamptz is null or created_at < $3) ${kind === undefined ? '' : kindClauses[kind]}
       ${keySetClause(page, 4)}`,
    [workspaceId, from ?? null, to ?? null, ...keySetValues(page)],
  )

const kindClauses: Readonly<Record<EntryKind, string>> = {
  grant: `and kind = 'grant'`,
  debit: `and kind = 'debit'`,
  refund: `and kind = 'refund'`,
  adjust: `and kind = 'adjust'`,
}

export interface DayRow {
  day: string
  spent: number
  refunded: number
}

/** What was spent and given back on each of so many days of UTC up to now, also those on which nothing was. */
export const daysOf = (db: Db, workspaceId: string, now: Date, days: number): Promise<DayRow[]> =>
  db.rows(
    `select to_char(n.day, 'YYYY-MM-DD') as day, coalesce(d.spent, 0) as spent, coalesce(d.refunded, 0) as refunded
     from (select ($2::timestamptz at time zone 'UTC')::date - n as day from generate_series(0, $3::int - 1) as n) n
     left join credit_days d on d.workspace_id = $1 and d.day = n.day order by n.day`,
    [workspaceId, now, days],
  )

export const lowBalanceOf = (db: Db, workspaceId: string): Promise<{ low_balance: number } | undefined> =>
  db.first('select low_balance from workspaces where id = $1', [workspaceId])

export const setLowBalance = (db: Db, workspaceId: string, lowBalance: number): Promise<number> =>
  db.change('update workspaces set low_balance = $2 where id = $1', [workspaceId, lowBalance])
