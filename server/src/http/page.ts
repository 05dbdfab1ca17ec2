import type { ConsoleList, ListTotal } from '@parley/contract/console/list'
import { defaultLimit, type List, type PageQuery, totalMax } from '@parley/contract/page'
import { isUuid } from '../lib/ids.ts'
import { type KeySet, type Placed, type Position, positionOf } from '../lib/key-set.ts'
import { refuseParam } from '../lib/refuse.ts'

/** A list response without pagination. */
export const unpagedList = <Item>(data: Item[]): List<Item> => ({
  object: 'list',
  data,
  total: data.length,
  total_is_exact: true,
  has_more: false,
  next_cursor: null,
})

export const readConsolePage = (query: { limit?: number; cursor?: string }) => readPage({ limit: 50, ...query })

/** The page that a request asks for, and one row more, to know whether there is another page. */
export function readPage(query: PageQuery): KeySet {
  const { limit = defaultLimit, order = 'desc', cursor } = query
  return { take: limit + 1, order, after: cursor === undefined ? null : readCursor(cursor) }
}

/** The list response of the API. */
export const pageOf = <Row extends Placed, Item>(
  page: KeySet,
  rows: readonly Row[],
  { total, total_is_exact }: ListTotal,
  toItem: (row: Row) => Item,
): List<Item> => ({
  ...consolePageOf(page, rows, toItem),
  // If counting took too long, as if there were more than can be counted.
  total: total ?? totalMax,
  total_is_exact,
})

/**
 * The list response of the console. Pagination is by keyset: the cursor is the position of the last row, so rows that are
 * inserted between two pages are neither repeated nor skipped.
 */
export function consolePageOf<Row extends Placed, Item>(
  page: KeySet,
  rows: readonly Row[],
  toItem: (row: Row) => Item,
): ConsoleList<Item> {
  const items = rows.slice(0, page.take - 1)
  const last = items.at(-1)
  const more = rows.length > items.length && last !== undefined
  return {
    object: 'list',
    data: items.map(toItem),
    has_more: more,
    next_cursor: more ? writeCursor(positionOf(last)) : null,
  }
}

export const writeCursor = ({ at, id }: Position): string => Buffer.from(`${at.getTime()}.${id}`).toString('base64url')

export function readCursor(cursor: string): Position {
  const [, time, id = ''] = /^(\d{1,15})\.(.+)$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? []
  if (!time || !isUuid(id)) {
    refuseParam('cursor', 'invalid', 'Invalid cursor. Use the next_cursor of the previous page of this list.')
  }
  return { at: new Date(Number(time)), id }
}
