import { type Static, type TSchema, Type } from 'typebox'
import { nullable, uuidPattern } from '../ids.ts'

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

/** How many rows match, read apart from the rows. Null if counting took too long. If it is not exact, there are more. */
export const ListTotal = Type.Object({ total: nullable(Type.Integer()), total_is_exact: Type.Boolean() })
export type ListTotal = Static<typeof ListTotal>

/** The maximum number of rows in an export. If there are more, the last line says so. */
export const exportMax = 100_000

/** A filter for any part of a name or an ID. */
export const SearchText = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }))

const severalMax = 50

/** A filter that takes several of these values, separated by commas: `status=queued,failed`. */
export const severalOf = (values: readonly string[]) =>
  Type.Optional(severalLike(values.join('|'), `${values.join(', ')}; such as ${values.slice(0, 2).join(',')}`))

/** A filter that takes several values of a pattern, separated by commas. `use` says which values are allowed, with an example. */
export const severalLike = (pattern: string, use: string) =>
  Type.String({
    pattern: `^(?:${pattern})(?:,(?:${pattern})){0,${severalMax - 1}}$`,
    maxLength: 4000,
    errorMessage: `Enter a list of up to ${severalMax} values, separated by commas: ${use}.`,
  })

/** A filter that takes several IDs with this prefix. */
export const severalIds = (prefix: '' | `${string}_`, what: string) =>
  Type.Optional(
    severalLike(`${prefix}${uuidPattern}`, `IDs of ${what} such as ${prefix}01977d1c-6b2e-7c3a-9f4d-2b1a0c9d8e7f`),
  )

/** The values of such a filter, each once. */
export const valuesOf = <Value extends string = string>(text: string | undefined): Value[] | undefined =>
  text === undefined ? undefined : ([...new Set(text.split(','))] as Value[])
