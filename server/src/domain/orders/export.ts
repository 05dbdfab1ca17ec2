import type { Order, OrderStatus } from '@parley/contract/order'
import type { Db } from '../../db/db.ts'
import { type Cell, csvLines } from '../../lib/csv.ts'
import type { KeySet } from '../../lib/key-set.ts'
import { ordersOf } from './orders.sql.ts'
import { markOf, toOrder } from './orders.ts'

const pageSize = 500

/** Orders as CSV for spreadsheets: one line per item, newest order first. */
export async function* exportOrders(
  db: Db,
  workspaceId: string,
  { status, from }: { status: OrderStatus | undefined; from: string | undefined },
): AsyncGenerator<string> {
  yield csvLines([head])
  const filters = { status, from: from?.replace(/^\+/, '') }
  let after: KeySet['after'] = null
  for (;;) {
    const rows = await ordersOf(db, workspaceId, filters, { take: pageSize, after, order: 'desc' })
    if (rows.length > 0) yield csvLines(rows.flatMap((row) => toLines(toOrder(row))))
    const last = rows.at(-1)
    if (!last || rows.length < pageSize) return
    after = markOf(last)
  }
}

const head = [
  ...['order', 'received', 'status', 'from', 'name', 'note', 'total', 'currency'],
  ...['product', 'quantity', 'unit price', 'item currency'],
]

function toLines(order: Order): Cell[][] {
  const { id, received_at, status, from, profile_name, note, total, currency, items } = order
  const shared = [id, received_at, status, from, profile_name, note, total, currency]
  if (items.length === 0) return [[...shared, null, null, null, null]]
  return items.map((item) => [...shared, item.product_id, item.quantity, item.unit_price, item.currency])
}
