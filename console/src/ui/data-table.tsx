import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type ReactNode, useCallback, useId, useLayoutEffect, useRef, useState } from 'react'
import { useLetterKey } from '../lib/keyboard.ts'
import { useIsPhone } from '../lib/media.ts'
import type { Paged } from '../lib/query.ts'
import { Button } from './button.tsx'
import styles from './data-table.module.css'
import {
  type Column,
  cellClass,
  cellStyle,
  HeadCell,
  PhoneCell,
  SkeletonRows,
  type Sort,
  Space,
} from './data-table-parts.tsx'
import { EmptyState, FailedState } from './states.tsx'

export type { Column } from './data-table-parts.tsx'

interface DataTableProps<Row> {
  /** For screen readers. */
  label: string
  columns: readonly Column<Row>[]
  list: Pick<Paged<Row>, 'rows' | 'error' | 'isLoading' | 'retry'> &
    Partial<Pick<Paged<Row>, 'hasMore' | 'isLoadingMore' | 'loadMore' | 'total' | 'isRefreshing'>>
  rowKey: (row: Row) => string
  /** Makes rows open by click, by Enter, and by j or k and Enter. */
  onOpen?: (row: Row) => void
  openKey?: string | null
  sort?: Sort
  onSort?: (sort: Sort) => void
  empty?: ReactNode
  /** Makes rows selectable, with a checkbox each. */
  selected?: ReadonlySet<string>
  onSelect?: (selected: ReadonlySet<string>) => void
  /** What to do with the selected rows. Shown over the head of the table while there are any. */
  selectedActions?: ReactNode
}

const virtualFrom = 200
const rowHeight = 41
const phoneRowHeight = 65

/** A list as a table, on phones with two lines in each row. Includes the loading, empty and error states. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, list, rowKey, onOpen, openKey, sort, onSort, empty } = props
  const { selected, onSelect, selectedActions } = props
  const rows = list.rows ?? []
  const body = useRef<HTMLTableSectionElement>(null)
  const [cursor, setCursor] = useState(-1)
  const headId = useId()
  const isPhone = useIsPhone()
  const [isTooWide, setTooWide] = useState(false)
  const watchWidth = useCallback((frame: HTMLDivElement) => {
    const table = frame.querySelector('table')
    if (!table) return
    const observer = new ResizeObserver(() => setTooWide(table.offsetWidth > frame.clientWidth))
    for (const element of [frame, table]) observer.observe(element)
    return () => observer.disconnect()
  }, [])

  const focusRow = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index))
    setCursor(next)
    if (isVirtual) virtual.scrollToIndex(next)
    requestAnimationFrame(() => body.current?.querySelector<HTMLElement>(`[data-index="${next}"]`)?.focus())
  }
  useLetterKey('j', () => focusRow(cursor + 1), rows.length > 0)
  useLetterKey('k', () => focusRow(cursor - 1), rows.length > 0)

  const isVirtual = rows.length > virtualFrom
  const [margin, setMargin] = useState(0)
  // Measured again when the number of rows changes, because the content above may have moved the table.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the count is the reason to measure
  useLayoutEffect(() => {
    setMargin((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY)
  }, [rows.length])
  const virtual = useWindowVirtualizer({
    count: isVirtual ? rows.length : 0,
    estimateSize: () => (isPhone ? phoneRowHeight : rowHeight),
    overscan: 20,
    scrollMargin: margin,
  })
  const items = virtual.getVirtualItems()
  const shown = isVirtual ? items.map((item) => item.index) : rows.map((_row, index) => index)
  const before = isVirtual ? (items[0]?.start ?? margin) - margin : 0
  const after = isVirtual ? virtual.getTotalSize() - ((items.at(-1)?.end ?? margin) - margin) : 0

  if (list.error && !list.rows)
    return <FailedState what={`${label} could not be loaded`} error={list.error} onRetry={list.retry} />
  if (!list.isLoading && rows.length === 0) return empty ?? <EmptyState title="No results" />

  const width = (isPhone ? 1 : columns.length) + (selected ? 1 : 0)
  const onRowKey = (event: KeyboardEvent, row: Row, index: number) => {
    if (event.target !== event.currentTarget) return
    if (event.key === 'Enter') onOpen?.(row)
    else if (event.key === 'ArrowDown') focusRow(index + 1)
    else if (event.key === 'ArrowUp') focusRow(index - 1)
    else return
    event.preventDefault()
  }
  return (
    <div
      ref={watchWidth}
      className={`${styles.frame} ${isTooWide ? styles.scrolls : ''}`}
      aria-busy={list.isLoading || list.isRefreshing}
      // A scrollable area must be reachable by keyboard.
      {...(isTooWide ? { role: 'group', 'aria-label': label, tabIndex: 0 } : {})}
    >
      {selectedActions && <div className={styles.bulk}>{selectedActions}</div>}
      <table
        className={`${styles.table} ${isPhone ? styles.onPhone : ''}`}
        aria-label={label}
        aria-rowcount={list.total ?? (list.hasMore ? -1 : rows.length)}
      >
        <thead className={isPhone && !selected ? 'unseen' : styles.head}>
          <tr>
            {selected && (
              <th className={styles.pick} scope="col">
                <label>
                  <input
                    type="checkbox"
                    aria-label="Select all shown"
                    checked={rows.length > 0 && rows.every((row) => selected.has(rowKey(row)))}
                    onChange={(event) => onSelect?.(new Set(event.currentTarget.checked ? rows.map(rowKey) : []))}
                  />
                </label>
              </th>
            )}
            {isPhone ? (
              <th scope="col">{selected ? 'Select all shown' : label}</th>
            ) : (
              columns.map((column) => (
                <HeadCell key={column.key} id={`${headId}${column.key}`} column={column} sort={sort} onSort={onSort} />
              ))
            )}
          </tr>
        </thead>
        <tbody ref={body}>
          {list.isLoading && (
            <SkeletonRows columns={isPhone ? columns.slice(0, 1) : columns} picks={selected !== undefined} />
          )}
          {before > 0 && <Space height={before} columns={width} />}
          {shown.map((index) => {
            const row = rows[index] as Row
            const key = rowKey(row)
            return (
              <tr
                key={key}
                data-index={index}
                aria-rowindex={index + 2}
                tabIndex={onOpen ? 0 : -1}
                className={[styles.row, onOpen && styles.opens, openKey === key && styles.open]
                  .filter(Boolean)
                  .join(' ')}
                aria-selected={selected ? selected.has(key) : undefined}
                onFocus={() => setCursor(index)}
                onKeyDown={(event) => onRowKey(event, row, index)}
                onClick={(event) => {
                  const isControl = (event.target as HTMLElement).closest('a, button, input, label, [role="menuitem"]')
                  // A dialog that a cell has opened is elsewhere in the document.
                  const isInRow = event.currentTarget.contains(event.target as Node)
                  if (onOpen && isInRow && !isControl && !window.getSelection()?.toString()) onOpen(row)
                }}
              >
                {selected && (
                  <td className={styles.pick}>
                    <label>
                      <input
                        type="checkbox"
                        aria-label={`Select ${key}`}
                        checked={selected.has(key)}
                        onChange={() => {
                          const next = new Set(selected)
                          if (!next.delete(key)) next.add(key)
                          onSelect?.(next)
                        }}
                      />
                    </label>
                  </td>
                )}
                {isPhone ? (
                  <PhoneCell columns={columns} row={row} />
                ) : (
                  columns.map((column) => (
                    <td key={column.key} className={cellClass(column)} style={cellStyle(column)}>
                      {column.cell(row)}
                    </td>
                  ))
                )}
              </tr>
            )
          })}
          {after > 0 && <Space height={after} columns={width} />}
        </tbody>
      </table>
      {list.hasMore && list.loadMore && (
        <div className={styles.more}>
          <Button kind="quiet" busy={list.isLoadingMore ?? false} onClick={list.loadMore}>
            Load more
          </Button>
        </div>
      )}
    </div>
  )
}
