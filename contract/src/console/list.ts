import { type TSchema, Type } from 'typebox'

/** A list in the console. Unlike in the API it has no total, because counting millions of rows takes long. */
export const ConsoleList = <Item extends TSchema>(item: Item) =>
  Type.Object({
    object: Type.Literal('list'),
    data: Type.Array(item),
    has_more: Type.Boolean(),
    next_cursor: Type.Union([Type.String(), Type.Null()]),
  })

export interface ConsoleList<Item> {
  object: 'list'
  data: Item[]
  has_more: boolean
  next_cursor: string | null
}

/** The query parameters of every list; each list adds its own filters. */
export const consolePageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
}
