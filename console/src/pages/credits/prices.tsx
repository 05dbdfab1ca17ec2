import type { CreditUsage } from '@parley/contract/console/credits'
import { formatCredits } from '../../lib/format.ts'
import { DataTable } from '../../ui/data-table.tsx'

/** What a message costs, by its kind. */
export function Prices({ prices }: { prices: CreditUsage['prices'] | undefined }) {
  return (
    <DataTable
      label="Prices"
      list={{ rows: prices, error: null, isLoading: prices === undefined, retry: () => {} }}
      rowKey={({ item }) => item}
      columns={[
        { key: 'item', title: 'Message', cell: ({ item }) => wordsOf(item) },
        {
          key: 'credits',
          title: 'Credits',
          width: 120,
          align: 'right',
          cell: ({ credits }) => <span className="numbers">{credits === 0 ? 'Free' : formatCredits(credits)}</span>,
        },
      ]}
    />
  )
}

function wordsOf(item: string): string {
  const [type = '', category] = item.split('.')
  const word = type.charAt(0).toUpperCase() + type.slice(1)
  return category ? `${word}, ${category.toLowerCase()}` : word
}
