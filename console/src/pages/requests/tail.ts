import type { LoggedRequest, LoggedRequests } from '@parley/contract/console/requests'
import { useCallback, useEffect, useRef, useState } from 'react'
import { api } from '../../lib/api.ts'
import { listen } from '../../lib/live.ts'
import { useHere } from '../../lib/session.ts'
import type { RequestQuery } from './requests.queries.ts'

export interface Tail {
  /** What came in while the page was open, the newest first. */
  rows: LoggedRequest[]
  /** What came in and is held back while somebody reads. */
  waiting: number
  /** Shows what is held back. */
  release(): void
  isFresh(id: string): boolean
}

const keptMost = 500
const atOnce = 100

/**
 * Follows the log: each time the service says that something was logged, what is newer than the last row seen is fetched.
 * While `isPaused` it is held back.
 */
export function useTail(query: RequestQuery, isOn: boolean, isPaused: boolean, newestCursor: string | null): Tail {
  const here = useHere()
  const path = here.api('requests')
  const [caught, setCaught] = useState<LoggedRequest[]>([])
  const [held, setHeld] = useState<LoggedRequest[]>([])
  const paused = useRef(isPaused)
  paused.current = isPaused
  const cursor = useRef<string | null>(null)
  cursor.current ??= newestCursor
  const wanted = JSON.stringify(query)

  const release = useCallback(() => {
    setHeld((waiting) => {
      if (waiting.length > 0) setCaught((before) => merge(waiting, before))
      return []
    })
  }, [])

  useEffect(() => {
    if (!isPaused) release()
  }, [isPaused, release])

  useEffect(() => {
    if (!isOn) return
    const query = JSON.parse(wanted) as RequestQuery
    let isAsking = false
    let isWanted = false
    let isOver = false
    const ask = async () => {
      if (isAsking) {
        isWanted = true
        return
      }
      isAsking = true
      try {
        const page = await api<LoggedRequests>(path, { query: { ...query, after: cursor.current, limit: atOnce } })
        if (isOver) return
        cursor.current = page.newest_cursor ?? cursor.current
        if (paused.current) setHeld((before) => merge(page.data, before))
        else setCaught((before) => merge(page.data, before))
      } catch {
        // The next news asks again; a service out of reach is told of at the top of the page.
      } finally {
        isAsking = false
        if (isWanted && !isOver) {
          isWanted = false
          void ask()
        }
      }
    }
    void ask()
    const stop = listen(here.id, (topic) => {
      if (topic === 'requests' || topic === 'all') void ask()
    })
    return () => {
      isOver = true
      stop()
      cursor.current = null
      setCaught([])
      setHeld([])
    }
  }, [isOn, wanted, path, here.id])

  const known = new Set(caught.map(({ id }) => id))
  return {
    rows: caught,
    waiting: held.filter(({ id }) => !known.has(id)).length,
    release,
    isFresh: (id) => known.has(id),
  }
}

/** The newest first, each once. */
export function merge(more: readonly LoggedRequest[], before: readonly LoggedRequest[]): LoggedRequest[] {
  const byId = new Map([...before, ...more].map((row) => [row.id, row]))
  return [...byId.values()]
    .sort((left, right) => right.at.localeCompare(left.at) || right.id.localeCompare(left.id))
    .slice(0, keptMost)
}
