import type { ListTotal } from '@parley/contract/console/list'
import type { Cell } from '../lib/csv.ts'
import type { KeySet, Placed } from '../lib/key-set.ts'
import type { Db } from './db.ts'

/** A list of the console that is ordered by time and ID. Its page, its total and its CSV file have the same filters. */
export interface PagedList<Filters, Row extends Placed, Item> {
  rows(db: Db, workspaceId: string, filters: Filters, page: KeySet): Promise<readonly Row[]>
  total(db: Db, workspaceId: string, filters: Filters): Promise<ListTotal>
  toItem(row: Row): Item
  /** The first line of the CSV file. */
  head: readonly string[]
  /** Most items are one line. An order has a line for each of its items. */
  toLines(item: Item): readonly (readonly Cell[])[]
}
