import { ListTotal } from '@parley/contract/console/list'
import type { Permission } from '@parley/contract/console/permissions'
import type { Static, TSchema } from 'typebox'
import { type ConsoleRoute, type WorkspaceContext, workspaceRoute } from './route.ts'
import { Streamed, streamCsv } from './stream.ts'

interface ListRoute<Query extends TSchema> {
  /** The path of the list. */
  path: `/${string}`
  who: Permission
  /** The filters of the list. */
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

type Lines = AsyncIterable<string>

/** The rows of a list that match, as a CSV file. */
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
