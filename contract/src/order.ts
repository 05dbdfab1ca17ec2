/** A cart that somebody sent from the workspace's catalogue. The console shows it; there is no endpoint for it. */
import { type Static, Type } from 'typebox'
import { MessageId, nullable, OrderId, SenderId, Timestamp } from './ids.ts'

/** A person moves an order from any of these to any other. */
export const orderStatuses = ['new', 'confirmed', 'shipped', 'done', 'cancelled'] as const
export type OrderStatus = (typeof orderStatuses)[number]

/**
 * Money is a decimal string, as the network wrote it: exact, while a JSON number would be a float to most readers, and
 * whole minor units would need to know how many decimals each currency has, which the network does not say.
 */
const Money = Type.String({ pattern: '^\\d+(\\.\\d+)?$', examples: ['19.98'] })

export const OrderItem = Type.Object({
  product_id: Type.String({ description: 'The product’s id in the catalogue, as the workspace chose it.' }),
  quantity: nullable(Type.Integer({ minimum: 0 })),
  unit_price: nullable(Money),
  currency: nullable(Type.String()),
})

export const OrderChange = Type.Object({
  from: Type.Enum([...orderStatuses]),
  to: Type.Enum([...orderStatuses]),
  by: Type.String({ description: 'Who changed it.' }),
  at: Timestamp,
})

const parts = {
  id: OrderId,
  object: Type.Literal('order'),
  message_id: MessageId,
  sender_id: SenderId,
  from: nullable(Type.String()),
  from_user_id: nullable(Type.String()),
  profile_name: nullable(Type.String()),
  catalog_id: nullable(Type.String()),
  note: Type.Union([Type.String(), Type.Null()], { description: 'What was written with the cart.' }),
  items: Type.Array(OrderItem),
  total: Type.Union([Money, Type.Null()], {
    description: 'Null where a price or quantity is not known, or the currencies differ.',
  }),
  currency: nullable(Type.String()),
  status: Type.Enum([...orderStatuses]),
  received_at: Timestamp,
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const Order = Type.Object(parts, { $id: 'Order', description: 'An order.' })

export const OrderWithChanges = Type.Object(
  { ...parts, changes: Type.Array(OrderChange, { description: 'Every change of its status, as they were made.' }) },
  { $id: 'OrderWithChanges', description: 'An order, and every change of its status.' },
)

export type OrderItem = Static<typeof OrderItem>
export type OrderChange = Static<typeof OrderChange>
export type Order = Static<typeof Order>
export type OrderWithChanges = Static<typeof OrderWithChanges>
