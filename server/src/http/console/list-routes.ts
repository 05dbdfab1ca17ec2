import { ConsoleList, ListTotal } from '@parley/contract/console/list'
import { barsQuery, ListBars } from '@parley/contract/console/list-bars'
import type { Permission } from '@parley/contract/console/permissions'
import type { PageQuery } from '@parley/contract/page'
import { type Static, type TObject, type TSchema, Type } from 'typebox'
import type { PagedList } from '../../db/paged-list.ts'
import { exportNewestFirst } from '../../lib/csv-export.ts'
import type { Placed } from '../../lib/key-set.ts'
import { consolePageOf, readConsolePage } from '../page.ts'
import { type ConsoleRoute, type WorkspaceContext, workspaceRoute } from './route.ts'
import { Streamed, streamCsv } from './stream.ts'

interface ListRoute<Query extends TSchema> {
  path: `/${string}`
  who: Permission
  query: Query
}

/** How many rows of a list match. It is apart from the rows, so that they do not wait for it. */
export const totalRoute = <Query extends TSchema>({
  path,
  total,
  ...rest
}: ListRoute<Query> & {
  total(context: WorkspaceContext, filters: Static<Query>): Promise<ListTotal>
}): ConsoleRoute =>
  workspaceRoute({
    ...rest,
    method: 'GET',
    path: `${path}/total`,
    mayLag: true,
    reply: ListTotal,
    handle: (context, { query }) => total(context, query as Static<Query>),
  })

/** The rows of a list that match, by result over time: for the bars above it. */
export const barsRoute = <Query extends TObject>({
  path,
  bars,
  query: filters,
  ...rest
}: ListRoute<Query> & {
  bars(context: WorkspaceContext, query: Static<Query> & { zone?: string }): Promise<ListBars>
}): ConsoleRoute =>
  workspaceRoute({
    ...rest,
    method: 'GET',
    path: `${path}/bars`,
    mayLag: true,
    query: Type.Object({ ...filters.properties, ...barsQuery }, { additionalProperties: false }),
    reply: ListBars,
    handle: (context, { query }) => bars(context, query as Static<Query>),
  })

/** The three routes of a list. */
export const listRoutes = <Filters extends TSchema, Row extends Placed, Item extends TSchema>(
  {
    query,
    item,
    csvPath,
    ...route
  }: Omit<ListRoute<Filters>, 'query'> & {
    filters: Filters
    /** The filters and the page. */
    query: TSchema
    item: Item
    csvPath?: `/${string}`
  },
  list: PagedList<Static<Filters>, Row, Static<Item>>,
): ConsoleRoute[] => {
  const { path, who, filters } = route
  return [
    workspaceRoute({
      method: 'GET',
      path,
      who,
      mayLag: true,
      query,
      reply: ConsoleList(item),
      async handle({ db, workspaceId }, { query }) {
        const page = readConsolePage(query as PageQuery)
        const rows = await list.rows(db, workspaceId, query as Static<Filters>, page)
        return consolePageOf(page, rows, list.toItem) as never
      },
    }),
    totalRoute({
      path,
      who,
      query: filters,
      total: ({ db, workspaceId }, given) => list.total(db, workspaceId, given),
    }),
    csvRoute({
      path: csvPath ?? path,
      who,
      query: filters,
      lines: ({ db, workspaceId }, given) =>
        exportNewestFirst({
          head: list.head,
          rows: (page) => list.rows(db, workspaceId, given, page),
          toLines: (row) => list.toLines(list.toItem(row)),
        }),
    }),
  ]
}

type Lines = AsyncIterable<string>

export const csvRoute = <Query extends TSchema>({
  path,
  lines,
  file = path.slice(1),
  ...rest
}: ListRoute<Query> & {
  /** The name of the file, if it is not that of the path. */
  file?: string
  lines(context: WorkspaceContext, filters: Static<Query>): Lines | Promise<Lines>
}): ConsoleRoute =>
  workspaceRoute({
    ...rest,
    method: 'GET',
    path: `${path}.csv`,
    mayLag: true,
    confirmed: true,
    audited: true,
    reply: Streamed,
    handle: async (context, { query }) =>
      streamCsv(
        context,
        `${file}.csv`,
        withoutPeople(query as Record<string, unknown>),
        await lines(context, query as Static<Query>),
      ),
  })

/** Who was searched for is not recorded: audit entries are never changed, so a person who is erased would stay in them. */
const withoutPeople = (filters: Readonly<Record<string, unknown>>) => {
  const personal = ['phone', 'user_id', 'q'].filter((name) => filters[name] !== undefined)
  return { ...filters, ...Object.fromEntries(personal.map((name) => [name, name === 'q' ? 'a search' : 'one person'])) }
}
