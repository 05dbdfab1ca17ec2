import { type Static, type TSchema, Type } from 'typebox'

/** The envelope of every list. */
export const List = <Item extends TSchema>(item: Item) =>
  Type.Object({
    object: Type.Literal('list'),
    data: Type.Array(item),
    total: Type.Integer({ minimum: 0, description: 'How many there are over all pages.' }),
    has_more: Type.Boolean(),
    next_cursor: Type.Union([Type.String(), Type.Null()], { description: 'Give it as `cursor` for the next page.' }),
  })

export interface List<Item> {
  object: 'list'
  data: Item[]
  total: number
  has_more: boolean
  next_cursor: string | null
}

export const defaultLimit = 20

/** The query parameters every paged list takes; a list adds its own filters to them. */
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: defaultLimit })),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: '`next_cursor` of the page before.' }),
  ),
  order: Type.Optional(Type.Unsafe<'asc' | 'desc'>(Type.String({ enum: ['asc', 'desc'], default: 'desc' }))),
}

export const PageQuery = Type.Object(pageQuery, { additionalProperties: false })
export type PageQuery = Static<typeof PageQuery>
