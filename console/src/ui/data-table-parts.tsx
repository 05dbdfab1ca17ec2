import type { CSSProperties, ReactNode } from 'react'
import styles from './data-table.module.css'
import { Icon } from './icon.tsx'
import { Skeleton } from './states.tsx'

export interface Column<Row> {
  key: string
  title: string
  cell: (row: Row) => ReactNode
  /** Any CSS width; text with the class `clip` is cut at it. Columns without one share the remaining space. */
  width?: string | number
  align?: 'left' | 'right'
  sortable?: boolean
  /** Hidden when the table is narrow: `tablet` below 1100 px, `phone` on phones. Actions, which have no title, stay. */
  hideOn?: 'tablet' | 'phone'
}

export interface Sort {
  key: string
  descending: boolean
}

export function HeadCell<Row>({
  id,
  column,
  sort,
  onSort,
}: {
  id: string
  column: Column<Row>
  sort: Sort | undefined
  onSort: ((sort: Sort) => void) | undefined
}) {
  const isSorted = sort?.key === column.key
  const direction = isSorted ? (sort.descending ? 'descending' : 'ascending') : 'none'
  return (
    <th
      id={id}
      scope="col"
      className={cellClass(column)}
      style={{ width: column.width }}
      {...(column.sortable ? { 'aria-sort': direction } : {})}
    >
      {column.sortable && onSort ? (
        <button
          type="button"
          className={styles.sort}
          onClick={() => onSort({ key: column.key, descending: isSorted ? !sort.descending : true })}
        >
          {column.title}
          <Icon name={isSorted ? (sort.descending ? 'arrowDown' : 'arrowUp') : 'selector'} size={11} />
        </button>
      ) : (
        column.title || <span className="unseen">Actions</span>
      )}
    </th>
  )
}

/**
 * A row on a phone or next to a drawer. The first line has what matters: the first column, and the last one if its width is fixed, such as the
 * time. The second line has the rest. Numbers need their title, and actions are on the right.
 */
export function CompactCell<Row>({ columns, row }: { columns: readonly Column<Row>[]; row: Row }) {
  const shown = columns.filter(({ title, hideOn }) => title !== '' && hideOn === undefined)
  const [first, ...others] = shown
  const last = others.at(-1)?.width === undefined ? undefined : others.at(-1)
  // Columns of fixed width, such as a status, come before columns that can be cut off.
  const rest = others.filter((column) => column !== last).toSorted((left, right) => rankOf(left) - rankOf(right))
  const actions = columns.filter(({ title }) => title === '')
  return (
    <td className={styles.compactCell}>
      <div className={styles.compactRow}>
        <div className={styles.lines}>
          <div className={styles.line}>
            <div className={styles.first}>{first?.cell(row)}</div>
            {last && <div className={styles.last}>{last.cell(row)}</div>}
          </div>
          {rest.length > 0 && (
            <div className={styles.rest}>
              {rest.map((column) => (
                <div key={column.key} className={rankOf(column) === 0 ? styles.fixed : undefined}>
                  <span className={column.align === 'right' ? styles.fixed : 'unseen'}>{column.title}: </span>
                  {column.cell(row)}
                </div>
              ))}
            </div>
          )}
        </div>
        {actions.length > 0 && (
          <div className={styles.actions}>
            {actions.map((column) => (
              <div key={column.key}>{column.cell(row)}</div>
            ))}
          </div>
        )}
      </div>
    </td>
  )
}

const rankOf = <Row,>({ width }: Column<Row>) => (width === undefined ? 1 : 0)

interface SkeletonRowsProps<Row> {
  columns: readonly Column<Row>[]
  picks: boolean
  isCompact: boolean
  count: number
}

/** As high as rows are. Not rows for assistive technology and tests: a click on them would do nothing. */
export function SkeletonRows<Row>({ columns, picks, isCompact, count }: SkeletonRowsProps<Row>) {
  const widthOf = (place: number) => `${[72, 54, 40, 62, 48][place % 5]}%`
  return Array.from({ length: count }, (_, line) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the rows are identical
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: it cannot have the focus
    <tr key={line} className={styles.row} aria-hidden="true">
      {picks && <td className={styles.pick} />}
      {isCompact ? (
        <td className={styles.compactCell}>
          <div className={styles.compactRow}>
            <Skeleton width={widthOf(line)} />
          </div>
        </td>
      ) : (
        columns.map((column, place) => (
          <td key={column.key} className={cellClass(column)}>
            <Skeleton width={widthOf(line + place)} />
          </td>
        ))
      )}
    </tr>
  ))
}

export function Space({ height, columns }: { height: number; columns: number }) {
  return (
    <tr>
      <td aria-hidden="true" colSpan={columns} style={{ height, padding: 0, border: 0 }} />
    </tr>
  )
}

export function cellClass<Row>({ title, align, hideOn }: Column<Row>): string {
  return [
    styles.cell,
    align === 'right' && styles.right,
    hideOn === 'tablet' && styles.tablet,
    title === '' && styles.act,
  ]
    .filter(Boolean)
    .join(' ')
}

export const cellStyle = <Row,>({ width }: Column<Row>): CSSProperties | undefined =>
  width === undefined ? undefined : ({ '--width': typeof width === 'number' ? `${width}px` : width } as CSSProperties)
