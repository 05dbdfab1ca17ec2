import { type JsonObject, readArray, readId, readNumber, readObject, readWords } from './read-json.ts'

/** A cart sent from the workspace's catalogue. A price or quantity that is no number is null. */
export interface Order {
  catalogId: string | null
  text: string | null
  items: OrderItem[]
}

export interface OrderItem {
  productRetailerId: string
  quantity: number | null
  itemPrice: number | null
  currency: string | null
}

const maxItems = 1000

export function readOrder(order: JsonObject | null): Order | null {
  if (order === null) return null
  return {
    catalogId: readId(order.catalog_id),
    text: readWords(order.text, 65_536),
    items: readArray(order.product_items)
      .slice(0, maxItems)
      .map(readItem)
      .filter((item) => item !== null),
  }
}

function readItem(value: unknown): OrderItem | null {
  const item = readObject(value)
  const productRetailerId = readId(item?.product_retailer_id)
  if (item === null || productRetailerId === null) return null
  return {
    productRetailerId,
    quantity: readNumber(item.quantity),
    itemPrice: readNumber(item.item_price),
    currency: readId(item.currency, 32),
  }
}
