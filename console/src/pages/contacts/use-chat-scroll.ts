import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'

interface Loading {
  rows: readonly unknown[] | undefined
  oldestId: string | undefined
  hasMore: boolean
  isLoadingMore: boolean
  loadMore(): void
}

interface ChatScroll {
  /** The area that scrolls, and the messages in it. */
  log: RefObject<HTMLElement | null>
  lines: RefObject<HTMLDivElement | null>
  onScroll(): void
}

/** How close to the beginning older messages are loaded, and how close to the end counts as the end. */
const nearStartPx = 300
const nearEndPx = 60

/**
 * Scrolls a conversation: it begins at the newest message and stays there while messages arrive or change their size, loads
 * older ones near its beginning, and keeps its place when they are added above.
 */
export function useChatScroll({ rows, oldestId, hasMore, isLoadingMore, loadMore }: Loading): ChatScroll {
  const log = useRef<HTMLElement>(null)
  const lines = useRef<HTMLDivElement>(null)
  const last = useRef({ isAtEnd: true, height: 0, oldestId })
  // biome-ignore lint/correctness/useExhaustiveDependencies: new rows change the height
  useLayoutEffect(() => {
    const element = log.current
    if (!element) return
    const before = last.current
    if (before.isAtEnd) element.scrollTop = element.scrollHeight
    else if (before.oldestId !== oldestId) element.scrollTop += element.scrollHeight - before.height
    last.current = { ...before, height: element.scrollHeight, oldestId }
  }, [rows, oldestId])
  const isShown = rows !== undefined
  useEffect(() => {
    if (!isShown || !log.current || !lines.current) return
    const observer = new ResizeObserver(() => {
      const element = log.current
      if (element && last.current.isAtEnd) element.scrollTop = element.scrollHeight
    })
    observer.observe(log.current)
    observer.observe(lines.current)
    return () => observer.disconnect()
  }, [isShown])
  const onScroll = () => {
    const element = log.current
    if (!element) return
    const { scrollTop, scrollHeight, clientHeight } = element
    // A change of size also scrolls. Only a reader who scrolls leaves the end.
    if (scrollHeight === last.current.height) {
      last.current.isAtEnd = scrollHeight - scrollTop - clientHeight < nearEndPx
    }
    last.current.height = scrollHeight
    if (scrollTop < nearStartPx && hasMore && !isLoadingMore) loadMore()
  }
  return { log, lines, onScroll }
}
