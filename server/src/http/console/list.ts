import type { ConsoleList } from '@parley/contract/console/list'
import { type CursorPosition, type Page, pageOf, readPage } from '../page.ts'

export const readConsolePage = (query: { limit?: number; cursor?: string }): Page => readPage({ limit: 50, ...query })

/** A page of a list, without the total count. */
export function consolePageOf<Row, Item>(
  page: Page,
  rows: readonly Row[],
  positionOf: (row: Row) => CursorPosition,
  toItem: (row: Row) => Item,
): ConsoleList<Item> {
  const { total: _, ...list } = pageOf(page, rows, 0, positionOf, toItem)
  return list
}
