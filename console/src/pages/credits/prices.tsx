import type { CreditUsage } from '@parley/contract/console/credits'
import { formatCredits } from '../../lib/format.ts'
import { priceWords } from '../../lib/prices.ts'
import { DataTable } from '../../ui/data-table.tsx'

/** What a message costs, by its kind. */
export function Prices({ prices }: { prices: CreditUsage['prices'] | undefined }) {
  return (
    <DataTable
      label="Prices"
      list={{ rows: prices, error: null, isLoading: prices === undefined, retry: () => {} }}
      rowKey={({ item }) => item}
      columns={[
        { key: 'item', title: 'Message', cell: ({ item }) => priceWords(item) },
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
