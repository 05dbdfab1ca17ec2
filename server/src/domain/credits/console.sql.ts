import type { EntryKind } from '@parley/contract/console/credits'
import type { Db } from '../../db/db.ts'
import { type Places, pagedStatement } from '../../db/statement.ts'
import { entryColumns } from './credits.sql.ts'

const parameters = { workspaceId: 'uuid', from: 'timestamptz', to: 'timestamptz', kinds: 'text[]' } as const

/** The kind is a literal, because the partial index of the rare kinds is only used for a constant. */
const listing = (ofKind: (places: Places<typeof parameters>) => string) =>
  pagedStatement(
    parameters,
    (places) => `select ${entryColumns} from credit_entries
     where workspace_id = ${places.workspaceId} and (${places.from} is null or created_at >= ${places.from})
       and (${places.to} is null or created_at < ${places.to}) ${ofKind(places)}`,
  )

const listings = {
  all: listing(() => ''),
  grant: listing(() => `and kind = 'grant'`),
  debit: listing(() => `and kind = 'debit'`),
  refund: listing(() => `and kind = 'refund'`),
  adjust: listing(() => `and kind = 'adjust'`),
} satisfies Record<EntryKind | 'all', unknown>

/** Several kinds. Without debits, which are most entries, the index of the rare kinds has all of them. */
const several = {
  withDebits: listing(({ kinds }) => `and kind = any(${kinds})`),
  rare: listing(({ kinds }) => `and kind = any(${kinds}) and kind <> 'debit'`),
}

/** The list of entries of these kinds. */
export function entryListOf(kinds: readonly EntryKind[]) {
  if (kinds.length <= 1) return listings[kinds[0] ?? 'all']
  return kinds.includes('debit') ? several.withDebits : several.rare
}

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
