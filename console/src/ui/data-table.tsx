import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, type RefObject, useCallback, useId, useLayoutEffect, useRef, useState } from 'react'
import { useIsPhone } from '../lib/media.ts'
import type { Paged } from '../lib/query.ts'
import { Button } from './button.tsx'
import styles from './data-table.module.css'
import {
  type Column,
  CompactCell,
  cellClass,
  cellStyle,
  HeadCell,
  SkeletonRows,
  type Sort,
  Space,
} from './data-table-parts.tsx'
import { useDockWidth, useIsCompact } from './docked.ts'
import { useRowKeys } from './row-keys.ts'
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
  /** The row that the drawer shows: the parameter `open` of the URL. */
  openKey?: string | null
  sort?: Sort
  onSort?: (sort: Sort) => void
  empty?: ReactNode
  /** How many rows to reserve while loading, if something follows the table. */
  loadingRows?: number
  /** Makes rows selectable, with a checkbox each. */
  selected?: ReadonlySet<string>
  onSelect?: (selected: ReadonlySet<string>) => void
  /** What to do with the selected rows. Shown over the head of the table while there are any. */
  selectedActions?: ReactNode
}

const virtualFrom = 200
const rowHeight = 41
const compactRowHeight = 57
const phoneRowHeight = 65

/** A list as a table, on phones and next to a drawer with two lines in each row. Includes the loading, empty and error states. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, list, rowKey, onOpen, openKey, sort, onSort, empty } = props
  const { selected, onSelect, selectedActions, loadingRows = 8 } = props
  const rows = list.rows ?? []
  const body = useRef<HTMLTableSectionElement>(null)
  const headId = useId()
  const isPhone = useIsPhone()
  const isCompact = useIsCompact()
  const isDocked = useDockWidth() !== null
  const [isTooWide, setTooWide] = useState(false)
  const watchWidth = useCallback((frame: HTMLDivElement) => {
    const table = frame.querySelector('table')
    if (!table) return
    const observer = new ResizeObserver(() => setTooWide(table.offsetWidth > frame.clientWidth))
    for (const element of [frame, table]) observer.observe(element)
    return () => observer.disconnect()
  }, [])

  const isVirtual = rows.length > virtualFrom
  const [margin, setMargin] = useState(0)
  // Measured again when the number or the height of rows changes, because the content above may have moved the table.
  // biome-ignore lint/correctness/useExhaustiveDependencies: they are the reason to measure
  useLayoutEffect(() => {
    setMargin((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY)
  }, [rows.length, isCompact])
  const virtual = useWindowVirtualizer({
    count: isVirtual ? rows.length : 0,
    estimateSize: () => (isPhone ? phoneRowHeight : isCompact ? compactRowHeight : rowHeight),
    overscan: 20,
    scrollMargin: margin,
  })
  const keys = useRowKeys({
    rows,
    rowKey,
    onOpen,
    openKey,
    body,
    bringIntoView: (index) => isVirtual && virtual.scrollToIndex(index),
    loadMore: list.hasMore ? list.loadMore : undefined,
  })
  useStillRow(body, keys.cursor, isCompact, () => virtual.measure())
  const items = virtual.getVirtualItems()
  const shown = isVirtual ? items.map((item) => item.index) : rows.map((_row, index) => index)
  const before = isVirtual ? (items[0]?.start ?? margin) - margin : 0
  const after = isVirtual ? virtual.getTotalSize() - ((items.at(-1)?.end ?? margin) - margin) : 0

  if (list.error && !list.rows)
    return <FailedState what={`${label} could not be loaded`} error={list.error} onRetry={list.retry} />
  if (!list.isLoading && rows.length === 0) return empty ?? <EmptyState title="No results" />

  const width = (isCompact ? 1 : columns.length) + (selected ? 1 : 0)
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
        className={[styles.table, isCompact && styles.compact, isDocked && styles.docked].filter(Boolean).join(' ')}
        aria-label={label}
        aria-rowcount={list.total ?? (list.hasMore ? -1 : rows.length)}
      >
        <thead className={isCompact && !selected ? 'unseen' : styles.head}>
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
            {isCompact ? (
              <th scope="col">{selected ? 'Select all shown' : label}</th>
            ) : (
              columns.map((column) => (
                <HeadCell key={column.key} id={`${headId}${column.key}`} column={column} sort={sort} onSort={onSort} />
              ))
            )}
          </tr>
        </thead>
        <tbody ref={body} data-rows={keys.isOpen ? 'open' : ''}>
          {list.isLoading && (
            <SkeletonRows columns={columns} picks={selected !== undefined} isCompact={isCompact} count={loadingRows} />
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
                aria-current={openKey === key || undefined}
                aria-selected={selected ? selected.has(key) : undefined}
                onFocus={() => keys.onFocus(row, index)}
                onKeyDown={(event) => keys.onKey(event, row, index)}
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
                {isCompact ? (
                  <CompactCell columns={columns} row={row} />
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

/** Keeps the row in use at its place in the window while a drawer opens or closes, which changes the height of rows. */
function useStillRow(
  body: RefObject<HTMLElement | null>,
  cursor: RefObject<{ key: string | null; index: number }>,
  isCompact: boolean,
  measure: () => void,
): void {
  const was = useRef(isCompact)
  const still = useRef<{ row: Element; top: number } | null>(null)
  if (was.current !== isCompact) {
    was.current = isCompact
    const row = cursor.current.key && body.current?.querySelector(`[data-index="${cursor.current.index}"]`)
    still.current = row ? { row, top: row.getBoundingClientRect().top } : null
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the other height of rows moves them
  useLayoutEffect(() => {
    measure()
    const { row, top } = still.current ?? {}
    if (row?.isConnected && top !== undefined) window.scrollBy(0, row.getBoundingClientRect().top - top)
  }, [isCompact])
}
