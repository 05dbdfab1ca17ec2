import { exportMax } from '@parley/contract/console/list'
import { type Cell, csvLines } from './csv.ts'
import { type KeySet, type Placed, type Position, positionOf } from './key-set.ts'

interface Export<Row, Position> {
  head: readonly string[]
  /** Reads the next rows. `next` is where to continue; null if there are no more. */
  read(after: Position | null, take: number): Promise<{ rows: readonly Row[]; next: Position | null }>
  /** Most rows are one line. An order has a line for each item. */
  toLines(row: Row): readonly (readonly Cell[])[]
  maxRows?: number
}

const pageRows = 500

/**
 * A list as CSV for spreadsheets. Each page is read only when the one before was consumed. The export stops at `maxRows`, and
 * its last line then says so.
 */
export async function* exportCsv<Row, Position>(list: Export<Row, Position>): AsyncGenerator<string> {
  const { head, read, toLines, maxRows = exportMax } = list
  yield csvLines([head])
  let written = 0
  for (let after: Position | null = null; ; ) {
    const { rows, next } = await read(after, Math.min(pageRows, maxRows - written))
    written += rows.length
    if (rows.length > 0) yield csvLines(rows.flatMap(toLines))
    if (!next) return
    if (written >= maxRows) {
      yield csvLines([[`Truncated after ${maxRows} rows. Narrow the filters or the time range to export the rest.`]])
      return
    }
    after = next
  }
}

/** A list that is ordered by time and ID, newest first. */
export const exportNewestFirst = <Row extends Placed>({
  rows: rowsOf,
  ...list
}: Omit<Export<Row, Position>, 'read'> & { rows: (page: KeySet) => Promise<readonly Row[]> }): AsyncIterable<string> =>
  exportCsv<Row, Position>({
    ...list,
    async read(after, take) {
      // One row more says whether there are more.
      const found = await rowsOf({ take: take + 1, after, order: 'desc' })
      const rows = found.slice(0, take)
      const last = rows.at(-1)
      return { rows, next: last && found.length > take ? positionOf(last) : null }
    },
  })

/** A list that is read at once, one line per row. */
export const exportAll = <Row>({
  rows,
  toLine,
  head,
}: Pick<Export<Row, never>, 'head'> & {
  rows: () => Promise<readonly Row[]>
  toLine: (row: Row) => readonly Cell[]
}): AsyncIterable<string> =>
  exportCsv<Row, never>({
    head,
    read: async () => ({ rows: await rows(), next: null }),
    toLines: (row) => [toLine(row)],
  })
