import { useRouter } from '@tanstack/react-router'
import { type KeyboardEvent, type RefObject, useEffect, useRef } from 'react'
import { useLetterKey } from '../lib/keyboard.ts'
import { parseSearch, useSearchParam } from '../lib/url.ts'
import { setSteps, useIsDocked } from './docked.ts'

interface RowKeysProps<Row> {
  rows: readonly Row[]
  rowKey: (row: Row) => string
  onOpen: ((row: Row) => void) | undefined
  openKey: string | null | undefined
  /** The element that contains the rows, each with its `data-index`. */
  body: RefObject<HTMLElement | null>
  /** Renders a row that is scrolled out of view. */
  bringIntoView: (index: number) => void
  loadMore: (() => void) | undefined
}

/**
 * Moves through the rows of a table: j and k, and the arrow keys while a row has the focus. While the drawer shows one of
 * the rows, it follows. When the drawer closes, its row gets the focus, or the row that took its place.
 */
export function useRowKeys<Row>({ rows, rowKey, onOpen, openKey, body, bringIntoView, loadMore }: RowKeysProps<Row>) {
  const { history } = useRouter()
  const isDocked = useIsDocked()
  const [inDrawer] = useSearchParam('open')
  const cursor = useRef<{ key: string | null; index: number }>({ key: null, index: 0 })
  const indexOf = (key: string | null | undefined) => (key ? rows.findIndex((row) => rowKey(row) === key) : -1)
  const openAt = openKey === inDrawer ? indexOf(openKey) : -1

  const focusRow = (index: number, mayFocus = () => true) => {
    bringIntoView(index)
    requestAnimationFrame(() => {
      if (mayFocus()) body.current?.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus()
    })
  }
  const goTo = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index))
    const row = rows[next]
    if (row === undefined) return
    if (index > next) loadMore?.()
    cursor.current = { key: rowKey(row), index: next }
    if (openAt >= 0) onOpen?.(row)
    if (openAt < 0 || isDocked) focusRow(next)
  }
  const step = (by: 1 | -1) => {
    // If keys are pressed fast, the address changes before the drawer does.
    const key = openAt >= 0 ? parseSearch(history.location.search).open : cursor.current.key
    const at = indexOf(key)
    const { index } = cursor.current
    // If the open row has left the list, the next row took its place.
    goTo(at >= 0 ? at + by : by === 1 ? index : index - 1)
  }
  const stepIfOurs = (by: 1 | -1) => {
    if (listInUse() === body.current) step(by)
  }
  useLetterKey('j', () => stepIfOurs(1), rows.length > 0, { inDrawer: true })
  useLetterKey('k', () => stepIfOurs(-1), rows.length > 0, { inDrawer: true })

  const latest = useRef(step)
  latest.current = step
  const isFirst = openAt === 0
  const isLast = openAt === rows.length - 1
  const isOpen = openAt >= 0
  useEffect(() => {
    if (!isOpen) return
    setSteps({
      previous: isFirst ? undefined : () => latest.current(-1),
      next: isLast ? undefined : () => latest.current(1),
    })
    return () => setSteps(null)
  }, [isOpen, isFirst, isLast])

  const wasOpen = useRef(false)
  useEffect(() => {
    if (isOpen) {
      wasOpen.current = true
      cursor.current = { key: openKey ?? null, index: openAt }
    } else if (inDrawer === null && wasOpen.current) {
      wasOpen.current = false
      const { key, index } = cursor.current
      const at = indexOf(key)
      focusRow(at >= 0 ? at : Math.min(index, rows.length - 1), () => {
        const active = document.activeElement
        return active === document.body || !!active?.closest('[data-drawer]') || !!body.current?.contains(active)
      })
    }
  })

  return {
    cursor,
    /** Whether the drawer shows a row of this table. */
    isOpen,
    onFocus: (row: Row, index: number) => {
      cursor.current = { key: rowKey(row), index }
    },
    onKey: (event: KeyboardEvent, row: Row, index: number) => {
      if (event.target !== event.currentTarget) return
      if (event.key === 'Enter') {
        if (isOpen && rowKey(row) === openKey) document.querySelector<HTMLElement>('[data-drawer]')?.focus()
        else onOpen?.(row)
      } else if (event.key === 'ArrowDown') goTo(index + 1)
      else if (event.key === 'ArrowUp') goTo(index - 1)
      else return
      event.preventDefault()
    },
  }
}

/** Of several lists on a page, the one that has the open row, or the focus, or is the first. */
function listInUse(): Element | undefined {
  const lists = [...document.querySelectorAll('[data-rows]')].filter((list) => list.checkVisibility())
  return (
    lists.find((list) => list.getAttribute('data-rows') === 'open') ??
    lists.find((list) => list.contains(document.activeElement)) ??
    lists[0]
  )
}
