import { type Order, orderStatuses } from '@parley/contract/order'
import { useNavigate } from '@tanstack/react-router'
import { plural } from '../../lib/format.ts'
import { useHere } from '../../lib/session.ts'
import { useFilters } from '../../lib/url.ts'
import { ContactLink, contactName, contactOf } from '../../parts/contact-link.tsx'
import { ListBar } from '../../parts/list-bar.tsx'
import { numberColumn, timeColumn } from '../../ui/columns.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { optionsOf } from '../../ui/filter-bar.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { SafeText } from '../../ui/link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { formatMoney } from './money.ts'
import { useOrders } from './orders.queries.ts'

export function OrdersPage() {
  const here = useHere()
  const navigate = useNavigate()
  const filters = useFilters('status', 'phone', 'from', 'to')
  const orders = useOrders(filters)
  return (
    <>
      <PageHeader title="Orders" detail="Carts that customers sent from your WhatsApp catalog." />
      <PageBody>
        <ListBar
          query={filters}
          noun={['order']}
          total={{ path: 'orders', topics: ['orders', 'messages'], shown: orders.rows?.length ?? 0 }}
          file="orders.csv"
          filters={[
            {
              kind: 'select',
              name: 'status',
              title: 'Status',
              options: optionsOf(orderStatuses),
            },
            { kind: 'text', name: 'phone', title: 'Phone number', placeholder: '+49 170 1234567' },
            { kind: 'dates', title: 'Received' },
          ]}
        />
        <DataTable
          label="Orders"
          list={orders}
          rowKey={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: here.path(`orders/${id}`) })}
          columns={columns}
          empty={
            Object.keys(filters).length > 0 ? (
              <EmptyState icon="search" title="No matching orders">
                Remove a filter to see more.
              </EmptyState>
            ) : (
              <EmptyState icon="order" title="No orders yet">
                Carts that customers send from your WhatsApp catalog appear here.
              </EmptyState>
            )
          }
        />
      </PageBody>
    </>
  )
}

const columns: readonly Column<Order>[] = [
  {
    key: 'who',
    title: 'Customer',
    width: 220,
    cell: (order) => {
      const person = contactOf(order)
      const { profile_name } = order
      return (
        <ContactLink person={person}>
          <span className="lines">
            {profile_name && <SafeText className="clip">{profile_name}</SafeText>}
            <bdi className={profile_name ? 'small quiet numbers' : 'numbers'}>{person && contactName(person)}</bdi>
          </span>
        </ContactLink>
      )
    },
  },
  {
    key: 'items',
    title: 'Items',
    cell: ({ items, note }) => (
      <span className="lines">
        <span className="clip">
          {plural(items.length, 'item')}
          <bdi className="quiet"> {items.map(({ product_id }) => product_id).join(', ')}</bdi>
        </span>
        {note && <SafeText className="small quiet clip">{note}</SafeText>}
      </span>
    ),
  },
  { key: 'status', title: 'Status', width: 140, cell: ({ status }) => <StatusBadge status={status} /> },
  numberColumn('total', 'Total', ({ total, currency }) => formatMoney(total, currency), { width: 130 }),
  timeColumn('at', 'Received', ({ received_at }) => received_at),
]
