import type { Column } from './data-table.tsx'
import { TimeAgo } from './time.tsx'

type More<Row> = Pick<Column<Row>, 'width' | 'hideOn'>

/** A column with a relative time. `none` is shown where there is no time. */
export const timeColumn = <Row,>(
  key: string,
  title: string,
  at: (row: Row) => string | null | undefined,
  { none = 'Never', ...more }: More<Row> & { none?: string } = {},
): Column<Row> => ({
  key,
  title,
  width: 120,
  align: 'right',
  ...more,
  cell: (row) => <TimeAgo at={at(row)} none={none} />,
})

/** A column with a number, which `text` formats. */
export const numberColumn = <Row,>(
  key: string,
  title: string,
  text: (row: Row) => string,
  more: More<Row> = {},
): Column<Row> => ({ key, title, align: 'right', ...more, cell: (row) => <span className="numbers">{text(row)}</span> })
