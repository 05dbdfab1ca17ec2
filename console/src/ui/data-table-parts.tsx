import type { ReactNode } from 'react'
import styles from './data-table.module.css'
import { Icon } from './icon.tsx'
import { Skeleton } from './states.tsx'

export interface Column<Row> {
  key: string
  title: string
  cell: (row: Row) => ReactNode
  /** Any CSS width. Columns without one share the remaining space. */
  width?: string | number
  align?: 'left' | 'right'
  sortable?: boolean
  /** Hidden when the table is narrow: `tablet` below 1100 px, `phone` on cards. */
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

export function SkeletonRows<Row>({ columns, picks }: { columns: readonly Column<Row>[]; picks: boolean }) {
  return Array.from({ length: 8 }, (_, line) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the rows are identical
    <tr key={line} className={styles.row}>
      {picks && <td className={styles.pick} />}
      {columns.map((column, place) => (
        <td key={column.key} className={cellClass(column)}>
          <Skeleton width={`${[72, 54, 40, 62, 48][(line + place) % 5]}%`} />
        </td>
      ))}
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

export function cellClass<Row>({ align, hideOn }: Column<Row>): string {
  return [styles.cell, align === 'right' && styles.right, hideOn && styles[hideOn]].filter(Boolean).join(' ')
}
