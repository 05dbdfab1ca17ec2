/**
 * An order that a customer placed from the workspace's catalog. Only the console shows it; /v1 has no endpoint for it.
 */
import { type Static, Type } from 'typebox'
import { MessageId, nullable, OrderId, SenderId, Timestamp } from './ids.ts'

/** Any status can be changed to any other. */
export const orderStatuses = ['new', 'confirmed', 'shipped', 'done', 'cancelled'] as const
export type OrderStatus = (typeof orderStatuses)[number]

/**
 * Amounts are decimal strings, as WhatsApp sends them. A JSON number would lose precision as a float, and minor units
 * would require the number of decimals of each currency, which WhatsApp does not send.
 */
const Money = Type.String({ pattern: '^\\d+(\\.\\d+)?$', examples: ['19.98'] })

export const OrderItem = Type.Object({
  product_id: Type.String({ description: 'The ID of the product in the catalog.' }),
  quantity: nullable(Type.Integer({ minimum: 0 })),
  unit_price: nullable(Money),
  currency: nullable(Type.String()),
})

const OrderChange = Type.Object({
  from: Type.Enum([...orderStatuses]),
  to: Type.Enum([...orderStatuses]),
  by: Type.String({ description: 'The person who changed the status.' }),
  at: Timestamp,
})

const fields = {
  id: OrderId,
  object: Type.Literal('order'),
  message_id: MessageId,
  sender_id: SenderId,
  from: nullable(Type.String()),
  from_user_id: nullable(Type.String()),
  profile_name: nullable(Type.String()),
  catalog_id: nullable(Type.String()),
  note: Type.Union([Type.String(), Type.Null()], { description: 'The note that the customer sent with the order.' }),
  items: Type.Array(OrderItem),
  total: Type.Union([Money, Type.Null()], {
    description: 'The total of all items. Null if a price or quantity is not known, or if the currencies differ.',
  }),
  currency: nullable(Type.String()),
  status: Type.Enum([...orderStatuses]),
  received_at: Timestamp,
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const Order = Type.Object(fields, { $id: 'Order', description: 'An order.' })

export const OrderWithChanges = Type.Object(
  { ...fields, changes: Type.Array(OrderChange, { description: 'Every status change, oldest first.' }) },
  { $id: 'OrderWithChanges', description: 'An order with its status changes.' },
)

export type OrderItem = Static<typeof OrderItem>
export type OrderChange = Static<typeof OrderChange>
export type Order = Static<typeof Order>
export type OrderWithChanges = Static<typeof OrderWithChanges>
