import { capital, formatCredits } from '../lib/format.ts'
import type { Column } from '../ui/data-table.tsx'

/** The price of each type of message. */
export const priceColumns: readonly Column<{ item: string; credits: number }>[] = [
  { key: 'item', title: 'Message', cell: ({ item }) => priceLabel(item) },
  {
    key: 'credits',
    title: 'Credits',
    width: 120,
    align: 'right',
    cell: ({ credits }) => <span className="numbers">{credits === 0 ? 'Free' : formatCredits(credits)}</span>,
  },
]

/** `template.MARKETING` → Template, marketing */
export function priceLabel(item: string): string {
  const [type = '', category] = item.split('.')
  const title = capital(type.replaceAll('_', ' '))
  return category ? `${title}, ${category.toLowerCase()}` : title
}
