import { valuesOf } from '@parley/contract/console/list'
import type { OrderFilters } from '@parley/contract/console/orders'
import type { Order } from '@parley/contract/order'
import type { PagedList } from '../../db/paged-list.ts'
import { type OrderRow, orderList } from './orders.sql.ts'
import { toOrder } from './orders.ts'

export const orders: PagedList<OrderFilters, OrderRow, Order> = {
  rows: (db, workspaceId, filters, page) => orderList.rows(db, toValues(workspaceId, filters), page),
  total: (db, workspaceId, filters) => orderList.total(db, toValues(workspaceId, filters)),
  toItem: toOrder,
  head: [
    ...['order', 'received', 'status', 'from', 'name', 'note', 'total', 'currency'],
    ...['product', 'quantity', 'unit price', 'item currency'],
  ],
  toLines({ id, received_at, status, from, profile_name, note, total, currency, items }) {
    const shared = [id, received_at, status, from, profile_name, note, total, currency]
    if (items.length === 0) return [[...shared, null, null, null, null]]
    return items.map((item) => [...shared, item.product_id, item.quantity, item.unit_price, item.currency])
  },
}

const toValues = (workspaceId: string, { status, phone, from, to }: OrderFilters) => ({
  workspaceId,
  statuses: valuesOf(status),
  from: phone?.replace(/^\+/, ''),
  after: from,
  before: to,
})
