import { type Static, type TSchema, Type } from 'typebox'

/** The items of a list are counted up to here. */
export const totalMax = 10_000

/** The envelope of every list response. */
export const List = <Item extends TSchema>(item: Item) =>
  Type.Object(
    {
      object: Type.Literal('list', { description: 'The object type.' }),
      data: Type.Array(item, { description: 'The items of this page.' }),
      total: Type.Integer({
        minimum: 0,
        description: 'The number of items on all pages, counted up to 10,000.',
      }),
      total_is_exact: Type.Boolean({
        description:
          'False if there are more than 10,000 items, or if counting them would take more than two seconds: there are at ' +
          'least `total`.',
      }),
      has_more: Type.Boolean({ description: 'Whether there is another page.' }),
      next_cursor: Type.Union([Type.String(), Type.Null()], {
        description: 'Pass it as `cursor` to get the next page. Null on the last page.',
      }),
    },
    {
      examples: [
        { object: 'list', data: examplesOf(item), total: 1, total_is_exact: true, has_more: false, next_cursor: null },
      ],
    },
  )

/** The examples in a schema. Every schema of a request or a response of the API has at least one. */
export const examplesOf = (schema: TSchema): readonly unknown[] => (schema as { examples?: unknown[] }).examples ?? []

export interface List<Item> {
  object: 'list'
  data: Item[]
  total: number
  total_is_exact: boolean
  has_more: boolean
  next_cursor: string | null
}

export const defaultLimit = 20

/** The query parameters of every paginated list; each list adds its own filters. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: defaultLimit, description: 'The number of items per page.' }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'The `next_cursor` of the previous page.',
      examples: ['MTc5NDczNTAwMDAwMC4wMTk5YjJmNC02YzFlLTdhNTMtOWQwZS01ZjFmNmEyYjNjNGQ'],
    }),
  ),
  order: Type.Optional(
    Type.Unsafe<'asc' | 'desc'>(
      Type.String({
        enum: ['asc', 'desc'],
        default: 'desc',
        description: '`desc`: newest first. `asc`: oldest first.',
      }),
    ),
  ),
}

export const PageQuery = Type.Object(pageQuery, { additionalProperties: false })
export type PageQuery = Static<typeof PageQuery>
