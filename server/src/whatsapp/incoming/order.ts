import type { InboundOrder } from '@parley/contract/inbound'
import { type Decimal, readDecimal } from '../../lib/decimal.ts'
import { type JsonObject, readArray, readId, readNonBlank, readNumber, readObject } from '../read-json.ts'

/** An order from the workspace's catalog. An invalid price or quantity is null. */
export interface Order {
  catalogId: string | null
  text: string | null
  items: OrderItem[]
}

interface OrderItem {
  productRetailerId: string
  quantity: number | null
  unitPrice: Decimal | null
  currency: string | null
}

const maxItems = 1000
const maxQuantity = 1_000_000_000

export function readOrder(order: JsonObject | null): Order | null {
  if (order === null) return null
  return {
    catalogId: readId(order.catalog_id),
    text: readNonBlank(order.text, 65_536),
    items: readArray(order.product_items)
      .slice(0, maxItems)
      .map(readItem)
      .filter((item) => item !== null),
  }
}

/** The format of the event: prices are JSON numbers. */
export const toInboundOrder = ({ catalogId, text, items }: Order): InboundOrder => ({
  catalog_id: catalogId,
  text,
  items: items.map(({ productRetailerId, quantity, unitPrice, currency }) => ({
    product_retailer_id: productRetailerId,
    quantity,
    item_price: unitPrice === null ? null : Number(unitPrice),
    currency,
  })),
})

function readItem(value: unknown): OrderItem | null {
  const item = readObject(value)
  const productRetailerId = readId(item?.product_retailer_id)
  if (item === null || productRetailerId === null) return null
  return {
    productRetailerId,
    quantity: readQuantity(item.quantity),
    unitPrice: readDecimal(item.item_price),
    currency: readId(item.currency, 32),
  }
}

function readQuantity(value: unknown): number | null {
  const quantity = readNumber(value)
  return quantity !== null && Number.isInteger(quantity) && quantity >= 0 && quantity <= maxQuantity ? quantity : null
}
