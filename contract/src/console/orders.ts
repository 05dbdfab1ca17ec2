import { type Static, Type } from 'typebox'
import { Moment, Phone } from '../formats.ts'
import { orderStatuses } from '../order.ts'
import { consolePageQuery, severalOf } from './list.ts'

const filters = {
  status: severalOf(orderStatuses),
  phone: Type.Optional(Phone),
  from: Type.Optional(Moment),
  to: Type.Optional(Moment),
}

export const OrderQuery = Type.Object({ ...consolePageQuery, ...filters }, { additionalProperties: false })
export const OrderFilters = Type.Object(filters, { additionalProperties: false })
export const OrderChangeRequest = Type.Object(
  { status: Type.Enum([...orderStatuses]) },
  { additionalProperties: false },
)

export type OrderFilters = Static<typeof OrderFilters>
export type OrderQuery = Static<typeof OrderQuery>
