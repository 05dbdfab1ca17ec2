import { capital, formatCredits } from '../lib/format.ts'
import { numberColumn } from '../ui/columns.tsx'
import type { Column } from '../ui/data-table.tsx'

/** The price of each type of message. */
export const priceColumns: readonly Column<{ item: string; credits: number }>[] = [
  { key: 'item', title: 'Message', cell: ({ item }) => priceLabel(item) },
  numberColumn('credits', 'Credits', ({ credits }) => (credits === 0 ? 'Free' : formatCredits(credits)), {
    width: 120,
  }),
]

/** `template.MARKETING` → Template, marketing */
export function priceLabel(item: string): string {
  const [type = '', category] = item.split('.')
  const title = capital(type.replaceAll('_', ' '))
  return category ? `${title}, ${category.toLowerCase()}` : title
}
