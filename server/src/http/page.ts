import { defaultLimit, type List, type PageQuery } from '@parley/contract/page'
import { isUuid } from '../lib/ids.ts'
import { refuseParam } from '../lib/refuse.ts'

/** A list that is given whole. */
export const unpagedList = <Item>(data: Item[]): List<Item> => ({
  object: 'list',
  data,
  total: data.length,
  has_more: false,
  next_cursor: null,
})

/** The place of a row in a list ordered by time and id. */
export interface CursorPosition {
  at: Date
  id: string
}

/** What a paged query is asked for: one row more than the page holds, to know whether more follow. */
export interface Page {
  take: number
  after: CursorPosition | null
  order: 'asc' | 'desc'
}

export function readPage(query: PageQuery): Page {
  const { limit = defaultLimit, order = 'desc', cursor } = query
  return { take: limit + 1, order, after: cursor === undefined ? null : readCursor(cursor) }
}

/**
 * The page's envelope. Paging is by key set: the cursor says after which row to go on, so rows that are inserted
 * meanwhile are neither repeated nor skipped.
 */
export function pageOf<Row, Item>(
  page: Page,
  rows: readonly Row[],
  total: number,
  mark: (row: Row) => CursorPosition,
  toItem: (row: Row) => Item,
): List<Item> {
  const shown = rows.slice(0, page.take - 1)
  const last = shown.at(-1)
  const more = rows.length > shown.length && last !== undefined
  return {
    object: 'list',
    data: shown.map(toItem),
    total,
    has_more: more,
    next_cursor: more ? writeCursor(mark(last)) : null,
  }
}

export const writeCursor = ({ at, id }: CursorPosition): string =>
  Buffer.from(`${at.getTime()}.${id}`).toString('base64url')

export function readCursor(cursor: string): CursorPosition {
  const [, time, id = ''] = /^(\d{1,15})\.(.+)$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? []
  if (!time || !isUuid(id)) {
    refuseParam('cursor', 'invalid', 'The cursor is not one of this list; use next_cursor of the page before.')
  }
  return { at: new Date(Number(time)), id }
}
