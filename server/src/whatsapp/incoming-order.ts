import { type Decimal, isDecimal } from '../lib/decimal.ts'
import { type JsonObject, readArray, readId, readNumber, readObject, readWords } from './read-json.ts'

/** A cart sent from the workspace's catalogue. A price or quantity that cannot be one is null. */
export interface Order {
  catalogId: string | null
  text: string | null
  items: OrderItem[]
}

export interface OrderItem {
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
    quantity: readQuantity(item.quantity),
    unitPrice: readPrice(item.item_price),
    currency: readId(item.currency, 32),
  }
}

function readQuantity(value: unknown): number | null {
  const quantity = readNumber(value)
  return quantity !== null && Number.isInteger(quantity) && quantity >= 0 && quantity <= maxQuantity ? quantity : null
}

/** A number is written out again as it stood in the JSON: the shortest text that means this number. */
function readPrice(value: unknown): Decimal | null {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && isDecimal(text) ? text : null
}
