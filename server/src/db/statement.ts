import type { ListTotal } from '@parley/contract/console/list'
import type { KeySet } from '../lib/key-set.ts'
import { boundedTotal } from './bounded-total.ts'
import type { Db } from './db.ts'
import { bools, byteStrings, floats, ints, jsons, smallInts, texts, times, uuids } from './format/array-format.ts'

/** The parameter types by their PostgreSQL names, and the JavaScript type of each. */
interface Types {
  bool: boolean
  bytea: Buffer
  smallint: number
  int: number
  float8: number
  text: string
  /** Serialized when it is sent. */
  json: object
  timestamptz: Date
  uuid: string
}

type Type = keyof Types

/** Parameters by name: one value, an array of values, or rows with named columns. */
type Parameters = Readonly<Record<string, Single | `${Type}[]` | Columns>>
type Single = Type | 'bigint'
type Columns = Readonly<Record<string, Type>>

/** A row that is sent. */
export type Row<Names extends Columns> = { readonly [Name in keyof Names]: Types[Names[Name]] | null }

type Value<Parameter> = Parameter extends Columns
  ? readonly Row<Parameter>[]
  : Parameter extends `${infer One extends Type}[]`
    ? readonly Types[One][] | null | undefined
    : Parameter extends 'timestamptz'
      ? Date | string | null | undefined
      : Parameter extends Type
        ? Types[Parameter] | null | undefined
        : number | null | undefined

type Values<Named extends Parameters> = { readonly [Name in keyof Named]: Value<Named[Name]> }

/** The placeholder of each parameter in the text. */
export type Places<Named extends Parameters> = {
  readonly [Name in keyof Named]: Named[Name] extends Columns ? RowsPlace : string
}

/** The placeholder of rows: `${rows}` is a table with an alias, `${rows.columns}` is the list of its columns. */
interface RowsPlace {
  readonly columns: string
  toString(): string
}

export interface Statement<Named extends Parameters> {
  readonly text: string
  rows<Found extends object>(db: Db, values: Values<Named>): Promise<Found[]>
  first<Found extends object>(db: Db, values: Values<Named>): Promise<Found | undefined>
  /** Returns how many rows it changed. */
  change(db: Db, values: Values<Named>): Promise<number>
}

/**
 * A statement with named parameters. The text is built once, so it never changes and PostgreSQL can reuse its plan. A
 * parameter gets its number where the text first uses it. A parameter that the text does not use is not sent.
 *
 * Rows are sent as one array per column and read as a table: `from ${events}` becomes `from unnest($1::uuid[],
 * $2::text[]) as events("id", "type")`. Names are `camelCase` in the code and `snake_case` in the text.
 */
export function statement<const Named extends Parameters>(
  parameters: Named,
  write: (places: Places<Named>) => string,
): Statement<Named> {
  const encoders: Encode[] = []
  const add = (encode: Encode): string => `$${encoders.push(encode)}`
  const places = {}
  for (const [name, type] of Object.entries(parameters)) {
    if (typeof type !== 'string') {
      Object.defineProperty(places, name, { value: rowsPlace(name, type, add), enumerable: true })
      continue
    }
    let place: string | undefined
    const get = () => (place ??= `${add(encoderOf(name, type))}::${type}`)
    Object.defineProperty(places, name, { get, enumerable: true })
  }
  const text = write(places as Places<Named>)
  const valuesOf = (values: Values<Named>) => encoders.map((encode) => encode(values))
  return {
    text,
    rows: (db, values) => db.rows(text, valuesOf(values)),
    first: (db, values) => db.first(text, valuesOf(values)),
    change: (db, values) => db.change(text, valuesOf(values)),
  }
}

/** A statement that inserts one row, and returns how many it inserted. The parameters are columns of the table. */
export const insertion = <const Named extends Readonly<Record<string, Single | `${Type}[]`>>>(
  table: string,
  columns: Named,
  onConflict = '',
) =>
  statement(
    columns,
    (places) => `insert into ${table} (${columnsOf(columns)}) values (${Object.values(places)}) ${onConflict}`,
  ).change

/** Encodes one parameter. The casts below are safe, because `Values` has checked the types. */
type Encode = (values: Readonly<Record<string, unknown>>) => unknown

const arrays: Readonly<Record<Type, (values: never) => Buffer>> = {
  bool: bools,
  bytea: byteStrings,
  smallint: smallInts,
  int: ints,
  float8: floats,
  text: texts,
  json: jsons,
  timestamptz: times,
  uuid: uuids,
}

function encoderOf(name: string, type: Single | `${Type}[]`): Encode {
  if (type.endsWith('[]')) {
    const encode = arrays[type.slice(0, -2) as Type]
    return (values) => (values[name] == null ? null : encode(values[name] as never))
  }
  if (type === 'json') return (values) => (values[name] == null ? null : JSON.stringify(values[name]))
  return (values) => values[name] ?? null
}

function rowsPlace(name: string, types: Columns, add: (encode: Encode) => string): RowsPlace {
  const columns = columnsOf(types)
  let place: string | undefined
  const write = () => {
    const unnested = Object.entries(types).map(([column, type]) => {
      const encode = arrays[type]
      const at = add((values) => encode((values[name] as Record<string, unknown>[]).map((row) => row[column]) as never))
      return `${at}::${type}[]`
    })
    return `unnest(${unnested.join(', ')}) as ${snakeCase(name)}(${columns})`
  }
  return { columns, toString: () => (place ??= write()) }
}

/** Quoted, because a name may be an SQL keyword. After a dot, as in `runs.leading`, quotes are not needed. */
const columnsOf = (named: object): string =>
  Object.keys(named)
    .map((name) => `"${snakeCase(name)}"`)
    .join(', ')

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const pageParameters = { afterAt: 'timestamptz', afterId: 'uuid', take: 'int' } as const

/**
 * A statement that reads one page, ordered by `created_at` and `id`. The text must end with its WHERE conditions. Each
 * combination of order and first or next page has its own text, so that each gets a plan that uses the index. With
 * `each`, an item of a FROM clause, the page is merged from the pages of its rows.
 */
export function pagedStatement<const Named extends Parameters>(
  parameters: Named,
  write: (places: Places<Named>) => string,
  each?: (places: Places<Named>) => string,
) {
  const cases = (order: KeySet['order']) => {
    const follows = order === 'desc' ? '<' : '>'
    const end = (take: string) => `order by created_at ${order}, id ${order} limit ${take}`
    // TypeScript cannot infer that the placeholders of the caller and of the page are combined.
    const places = (all: unknown) => all as Places<Named> & Places<typeof pageParameters>
    const page = (all: unknown, condition: string) => {
      const ordered = end(places(all).take)
      const text = `${write(places(all))} ${condition} ${ordered}`
      return each ? `select page.* from ${each(places(all))} cross join lateral (${text}) as page ${ordered}` : text
    }
    return {
      first: statement({ ...parameters, ...pageParameters }, (all) => page(all, '')),
      next: statement({ ...parameters, ...pageParameters }, (all) => {
        const { afterAt, afterId } = places(all)
        return page(all, `and (created_at, id) ${follows} (${afterAt}, ${afterId})`)
      }),
    }
  }
  const counting = statement({ ...parameters, take: 'int' }, (all) => {
    const places = all as unknown as Places<Named> & { take: string }
    const from = each ? `${each(places)} cross join lateral` : ''
    return `select count(*)::int as count from (
       select 1 from ${from} (${write(places)}) as matching limit ${places.take}) as counted`
  })
  const byOrder = { asc: cases('asc'), desc: cases('desc') }
  const rows = <Found extends object>(
    db: Db,
    values: Values<Named>,
    { order, after, take }: KeySet,
  ): Promise<Found[]> => {
    const all = { ...values, afterAt: after?.at, afterId: after?.id, take }
    return byOrder[order][after ? 'next' : 'first'].rows(db, all as never)
  }
  const count = async (db: Db, values: Values<Named>, atMost: number): Promise<number> => {
    const row = await counting.first<{ count: number }>(db, { ...values, take: atMost } as never)
    return row?.count ?? 0
  }
  const total = (db: Db, values: Values<Named>): Promise<ListTotal> =>
    boundedTotal(db, (tx, atMost) => count(tx, values, atMost))
  return {
    count,
    total,
    rows,
    /** The rows of a page, and how many rows match. */
    async page<Found extends object>(db: Db, values: Values<Named>, page: KeySet) {
      const [found, matching] = await Promise.all([rows<Found>(db, values, page), total(db, values)])
      return { rows: found, total: matching }
    },
  }
}
