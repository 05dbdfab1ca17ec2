import type { EntryKind } from '@parley/contract/console/credits'
import type { Db } from '../../db/db.ts'
import { pagedStatement } from '../../db/statement.ts'
import type { KeySet } from '../../lib/key-set.ts'
import { type EntryRow, entryColumns } from './credits.sql.ts'

export interface EntryFilters {
  kind?: EntryKind | undefined
  from?: Date | undefined
  to?: Date | undefined
}

/** The kind is a literal, because the partial index of the rare kinds is only used for a constant. */
const listing = (kind: string) =>
  pagedStatement(
    { workspaceId: 'uuid', from: 'timestamptz', to: 'timestamptz' },
    ({ workspaceId, from, to }) => `select ${entryColumns} from credit_entries
     where workspace_id = ${workspaceId} and (${from} is null or created_at >= ${from})
       and (${to} is null or created_at < ${to}) ${kind}`,
  )

const listings = {
  all: listing(''),
  grant: listing(`and kind = 'grant'`),
  debit: listing(`and kind = 'debit'`),
  refund: listing(`and kind = 'refund'`),
  adjust: listing(`and kind = 'adjust'`),
} satisfies Record<EntryKind | 'all', unknown>

export const filteredEntries = (
  db: Db,
  workspaceId: string,
  { kind, from, to }: EntryFilters,
  page: KeySet,
): Promise<EntryRow[]> => listings[kind ?? 'all'].rows(db, { workspaceId, from, to }, page)

export interface DayRow {
  day: string
  spent: number
  refunded: number
}

/** Credits spent and refunded on each of the last `days` days (UTC), including days without any. */
export const daysOf = (db: Db, workspaceId: string, now: Date, days: number): Promise<DayRow[]> =>
  db.rows(
    `select to_char(n.day, 'YYYY-MM-DD') as day, coalesce(d.spent, 0) as spent, coalesce(d.refunded, 0) as refunded
     from (select ($2::timestamptz at time zone 'UTC')::date - n as day from generate_series(0, $3::int - 1) as n) n
     left join credit_days d on d.workspace_id = $1 and d.day = n.day order by n.day`,
    [workspaceId, now, days],
  )
