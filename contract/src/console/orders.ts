import { type Static, Type } from 'typebox'
import { Phone } from '../formats.ts'
import { Order, OrderWithChanges, orderStatuses } from '../order.ts'
import { consolePageQuery } from './list.ts'

const filters = {
  status: Type.Optional(Type.Enum([...orderStatuses])),
  phone: Type.Optional(Phone),
}

export const OrderQuery = Type.Object({ ...consolePageQuery, ...filters }, { additionalProperties: false })
export const OrderFilters = Type.Object(filters, { additionalProperties: false })
export const OrderChangeRequest = Type.Object(
  { status: Type.Enum([...orderStatuses]) },
  { additionalProperties: false },
)

export { Order as ConsoleOrder, OrderWithChanges as ConsoleOrderWithChanges }
export type OrderQuery = Static<typeof OrderQuery>
