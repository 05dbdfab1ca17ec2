import type { LoggedRequest, LoggedRequests } from '@parley/contract/console/requests'
import { useCallback, useEffect, useRef, useState } from 'react'
import { api } from '../../lib/api.ts'
import { listen } from '../../lib/live.ts'
import { useHere } from '../../lib/session.ts'
import type { Logged, RequestQuery } from './requests.queries.ts'

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
 * The list is fetched again if a page did not reach back to it, if there are too many rows, or when `isLive` ends.
 */
export function useTail(query: RequestQuery, isLive: boolean, isPaused: boolean, list: Logged): Tail {
  const isOn = isLive && !list.isLoading
  const here = useHere()
  const path = here.api('requests')
  const [rows, setRows] = useState<LoggedRequest[]>([])
  const [held, setHeld] = useState<LoggedRequest[]>([])
  const paused = useRef(isPaused)
  paused.current = isPaused
  const [hasGap, setGap] = useState(false)
  const newest = useRef<{ cursor: string; at: string } | null>(null)
  newest.current ??= list.newestCursor ? { cursor: list.newestCursor, at: list.rows?.[0]?.at ?? '' } : null
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
        const { cursor: after = null, at: before = '' } = newest.current ?? {}
        const page = await api<LoggedRequests>(path, { query: { ...query, after, limit: pageSize } })
        if (isStopped) return
        if (page.has_more && (page.data.at(-1)?.at ?? '') > before) setGap(true)
        if (page.newest_cursor) newest.current = { cursor: page.newest_cursor, at: page.data[0]?.at ?? before }
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
    }
  }, [isOn, queryJson, path, here.id])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the rows belong to the query and the path
  useEffect(
    () => () => {
      newest.current = null
      setRows([])
      setHeld([])
      setGap(false)
    },
    [queryJson, path],
  )

  const isOutdated = isLive ? !isPaused && (hasGap || rows.length >= maxRows) : rows.length + held.length > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each time it is outdated, of one query
  useEffect(() => {
    if (!isOutdated) return
    let isStopped = false
    const replaceRows = (newestAt: string) => {
      if (isStopped) return
      // Requests that arrived in the meantime stay.
      setRows((before) => (isLive ? before.filter(({ at }) => at > newestAt) : []))
      setHeld([])
      setGap(false)
    }
    list.refetch().then(replaceRows, () => undefined)
    return () => {
      isStopped = true
    }
  }, [isOutdated, isLive, queryJson, path])

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
