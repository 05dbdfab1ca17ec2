import type { ListTotal } from '@parley/contract/console/list'
import { valuesOf } from '@parley/contract/console/list'
import type { OrderFilters } from '@parley/contract/console/orders'
import type { Order } from '@parley/contract/order'
import { boundedTotal } from '../../db/bounded-total.ts'
import type { Db } from '../../db/db.ts'
import type { Cell } from '../../lib/csv.ts'
import { exportNewestFirst } from '../../lib/csv-export.ts'
import type { KeySet } from '../../lib/key-set.ts'
import { countOrders, type OrderRow, ordersOf } from './orders.sql.ts'
import { markOf, toOrder } from './orders.ts'

export const listOrders = (db: Db, workspaceId: string, filters: OrderFilters, page: KeySet): Promise<OrderRow[]> =>
  ordersOf(db, workspaceId, toFilters(filters), page)

export const totalOfOrders = (db: Db, workspaceId: string, filters: OrderFilters): Promise<ListTotal> =>
  boundedTotal(db, (tx, atMost) => countOrders(tx, workspaceId, toFilters(filters), atMost))

/** One line per item, newest order first. */
export const exportOrders = (db: Db, workspaceId: string, filters: OrderFilters): AsyncIterable<string> =>
  exportNewestFirst({
    head: [
      ...['order', 'received', 'status', 'from', 'name', 'note', 'total', 'currency'],
      ...['product', 'quantity', 'unit price', 'item currency'],
    ],
    rows: (page) => ordersOf(db, workspaceId, toFilters(filters), page),
    positionOf: markOf,
    toLines: (row) => toLines(toOrder(row)),
  })

const toFilters = ({ status, phone, from, to }: OrderFilters) => ({
  statuses: valuesOf<Order['status']>(status),
  from: phone?.replace(/^\+/, ''),
  after: from === undefined ? undefined : new Date(from),
  before: to === undefined ? undefined : new Date(to),
})

function toLines(order: Order): Cell[][] {
  const { id, received_at, status, from, profile_name, note, total, currency, items } = order
  const shared = [id, received_at, status, from, profile_name, note, total, currency]
  if (items.length === 0) return [[...shared, null, null, null, null]]
  return items.map((item) => [...shared, item.product_id, item.quantity, item.unit_price, item.currency])
}
