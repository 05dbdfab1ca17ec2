import type { LoggedRequest, LoggedRequests } from '@parley/contract/console/requests'
import { useCallback, useEffect, useRef, useState } from 'react'
import { api } from '../../lib/api.ts'
import { listen } from '../../lib/live.ts'
import { useHere } from '../../lib/session.ts'
import type { RequestQuery } from './requests.queries.ts'

export interface Tail {
  /** Requests since the page was opened, newest first. */
  rows: LoggedRequest[]
  /** How many new requests are held back while the list is paused. */
  waiting: number
  /** Shows the requests that are held back. */
  release(): void
  isFresh(id: string): boolean
}

const maxRows = 500
const pageSize = 100

/**
 * Live requests: on every live update, fetches the requests after the newest cursor. While `isPaused`, they are held back.
 */
export function useTail(query: RequestQuery, isOn: boolean, isPaused: boolean, newestCursor: string | null): Tail {
  const here = useHere()
  const path = here.api('requests')
  const [rows, setRows] = useState<LoggedRequest[]>([])
  const [held, setHeld] = useState<LoggedRequest[]>([])
  const paused = useRef(isPaused)
  paused.current = isPaused
  const cursor = useRef<string | null>(null)
  cursor.current ??= newestCursor
  const queryJson = JSON.stringify(query)

  const release = useCallback(() => {
    setHeld((waiting) => {
      if (waiting.length > 0) setRows((before) => merge(waiting, before))
      return []
    })
  }, [])

  useEffect(() => {
    if (!isPaused) release()
  }, [isPaused, release])

  useEffect(() => {
    if (!isOn) return
    const query = JSON.parse(queryJson) as RequestQuery
    let isFetching = false
    let hasMissedUpdate = false
    let isStopped = false
    const fetchNew = async () => {
      if (isFetching) {
        hasMissedUpdate = true
        return
      }
      isFetching = true
      try {
        const page = await api<LoggedRequests>(path, { query: { ...query, after: cursor.current, limit: pageSize } })
        if (isStopped) return
        cursor.current = page.newest_cursor ?? cursor.current
        if (paused.current) setHeld((before) => merge(page.data, before))
        else setRows((before) => merge(page.data, before))
      } catch {
        // The next live update retries. A banner shows when the service is unreachable.
      } finally {
        isFetching = false
        if (hasMissedUpdate && !isStopped) {
          hasMissedUpdate = false
          void fetchNew()
        }
      }
    }
    void fetchNew()
    const stop = listen(here.id, (topic) => {
      if (topic === 'requests' || topic === 'all') void fetchNew()
    })
    return () => {
      isStopped = true
      stop()
      cursor.current = null
      setRows([])
      setHeld([])
    }
  }, [isOn, queryJson, path, here.id])

  const known = new Set(rows.map(({ id }) => id))
  return {
    rows,
    waiting: held.filter(({ id }) => !known.has(id)).length,
    release,
    isFresh: (id) => known.has(id),
  }
}

/** Merges by ID, newest first. */
export function merge(more: readonly LoggedRequest[], before: readonly LoggedRequest[]): LoggedRequest[] {
  const byId = new Map([...before, ...more].map((row) => [row.id, row]))
  return [...byId.values()]
    .sort((left, right) => right.at.localeCompare(left.at) || right.id.localeCompare(left.id))
    .slice(0, maxRows)
}
