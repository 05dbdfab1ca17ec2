import { type CreditEntry, type EntryKind, entryKinds } from '@parley/contract/console/credits'
import { formatCredits } from '../../lib/format.ts'
import { useHere } from '../../lib/session.ts'
import { useFilters } from '../../lib/url.ts'
import { ListBar } from '../../parts/list-bar.tsx'
import { numberColumn } from '../../ui/columns.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import type { IconName } from '../../ui/icon.tsx'
import { PageLink, SafeText } from '../../ui/link.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { StatusBadge, type Tone } from '../../ui/status-badge.tsx'
import { Moment } from '../../ui/time.tsx'
import { useStatement } from './credits.queries.ts'

const kinds: Readonly<Record<EntryKind, readonly [word: string, tone: Tone, icon: IconName]>> = {
  grant: ['Added', 'good', 'plus'],
  debit: ['Spent', 'calm', 'arrowUp'],
  refund: ['Refunded', 'note', 'retry'],
  adjust: ['Removed', 'warn', 'edit'],
}

/** Every change of the balance. */
export function Statement() {
  const here = useHere()
  const filters = useFilters('kind', 'from', 'to')
  const entries = useStatement(filters)
  return (
    <>
      <ListBar
        query={filters}
        noun={['transaction']}
        total={{ path: 'credits/entries', topics: ['credits'], shown: entries.rows?.length ?? 0 }}
        file="credits.csv"
        filters={[
          {
            kind: 'select',
            name: 'kind',
            title: 'Type',
            options: entryKinds.map((value) => ({ value, title: kinds[value][0] })),
          },
          { kind: 'dates', title: 'Time' },
        ]}
      />
      <DataTable
        label="Transactions"
        list={entries}
        rowKey={({ id }) => id}
        columns={[
          { key: 'at', title: 'Time', width: 250, cell: ({ created_at }) => <Moment at={created_at} /> },
          { key: 'kind', title: 'Type', width: 150, cell: ({ kind }) => <Kind kind={kind} /> },
          { key: 'what', title: 'Description', cell: (entry) => <Description entry={entry} path={here.path} /> },
          {
            key: 'amount',
            title: 'Amount',
            width: 120,
            align: 'right',
            cell: ({ amount }) => (
              <span className="numbers">
                {amount > 0 ? '+' : '−'}
                {formatCredits(Math.abs(amount))}
              </span>
            ),
          },
          numberColumn('balance', 'Balance', ({ balance_after }: CreditEntry) => formatCredits(balance_after), {
            width: 130,
          }),
        ]}
        empty={
          Object.keys(filters).length > 0 ? (
            <EmptyState icon="credit" title="No matching transactions">
              Remove a filter to see more.
            </EmptyState>
          ) : (
            <EmptyState icon="credit" title="No transactions yet">
              Credits added by the operator, charges for messages and refunds appear here.
            </EmptyState>
          )
        }
      />
    </>
  )
}

function Kind({ kind }: { kind: EntryKind }) {
  const [word, tone, icon] = kinds[kind]
  return <StatusBadge status={kind} word={word} tone={tone} icon={icon} />
}

function Description({ entry: { message_id, note }, path }: { entry: CreditEntry; path: (rest: string) => string }) {
  if (message_id) {
    return (
      <PageLink to={path(`messages/${message_id}`)} className="link mono small">
        {message_id}
      </PageLink>
    )
  }
  return <SafeText>{note}</SafeText>
}
