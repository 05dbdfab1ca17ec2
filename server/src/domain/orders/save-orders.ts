import type { OrderItem } from '@parley/contract/order'
import type { Db } from '../../db/db.ts'
import { addDecimals, type Decimal, timesDecimal } from '../../lib/decimal.ts'
import { newUuid } from '../../lib/ids.ts'
import type { Order as Cart } from '../../whatsapp/incoming/order.ts'
import { insertOrders } from './orders.sql.ts'

/** A received cart, with the message it arrived as. */
export interface NewCart {
  workspaceId: string
  senderId: string
  messageId: string
  from: string | null
  fromUserId: string | null
  profileName: string | null
  receivedAt: Date
  cart: Cart
}

/** Stores carts as orders. */
export async function saveOrders(db: Db, now: Date, carts: readonly NewCart[]): Promise<void> {
  if (carts.length === 0) return
  const rows = carts.map(({ cart, from, fromUserId, ...rest }) => {
    const items = cart.items.map(({ productRetailerId, quantity, unitPrice, currency }) => {
      return { product_id: productRetailerId, quantity, unit_price: unitPrice, currency }
    })
    const sum = sumOf(items)
    return {
      ...rest,
      id: newUuid(now.getTime()),
      sentBy: from,
      sentByUserId: fromUserId,
      catalogId: cart.catalogId,
      note: cart.text,
      items,
      total: sum?.total ?? null,
      currency: sum?.currency ?? null,
    }
  })
  await insertOrders(db, { orders: rows, now })
  for (const workspaceId of new Set(rows.map((row) => row.workspaceId))) db.notify(workspaceId, 'orders')
}

/** The total of a cart. Null unless every price and quantity is known and all have the same currency. */
export function sumOf(items: readonly OrderItem[]): { total: Decimal; currency: string } | null {
  const currency = items[0]?.currency ?? null
  if (currency === null) return null
  let total: Decimal = '0'
  for (const item of items) {
    if (item.currency !== currency || item.unit_price === null || item.quantity === null) return null
    total = addDecimals(total, timesDecimal(item.unit_price, item.quantity))
  }
  return { total, currency }
}
