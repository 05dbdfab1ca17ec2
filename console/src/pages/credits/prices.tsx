import type { CreditUsage } from '@parley/contract/console/credits'
import { priceColumns } from '../../parts/price-columns.tsx'
import { DataTable } from '../../ui/data-table.tsx'

/** The price of a message by type. */
export function Prices({ prices }: { prices: CreditUsage['prices'] | undefined }) {
  return (
    <DataTable
      label="Prices"
      list={{ rows: prices, error: null, isLoading: prices === undefined, retry: () => {} }}
      rowKey={({ item }) => item}
      columns={priceColumns}
    />
  )
}
