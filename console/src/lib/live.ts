import type { Topic } from '@parley/contract/console/topics'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { workspaceOf } from './api.ts'
import { createStore, useStore } from './store.ts'

/**
 * Live updates. All listeners share one event stream per workspace. It is closed while the tab is hidden and reconnects
 * with exponential backoff. An event only names a topic that changed; listeners refetch their queries.
 */
const reconnecting = createStore(false)

/** Whether the stream is interrupted because the service cannot be reached. */
export const useIsReconnecting = () => useStore(reconnecting)

/** Refetches the queries of a path when one of `topics` changed in its workspace. */
export function useLive(path: string, topics: readonly Topic[]): void {
  const client = useQueryClient()
  const joinedTopics = topics.join()
  useEffect(() => {
    const workspace = workspaceOf(path)
    if (workspace === '' || joinedTopics === '') return
    return listen(workspace, (topic) => {
      if (topic === 'all' || joinedTopics.split(',').includes(topic)) void refetch(client, path)
    })
  }, [path, joinedTopics, client])
}

/** The paths that are being refetched, and whether they have to be again. */
const refetching = new Map<string, boolean>()

/** From one request for a path to the next. A request and the drawing of a long list take a tenth of a second. */
const shortestGapMs = 1000

/**
 * Refetches the queries of a path: the first change immediately, later ones at most once a second. There is one request at a time:
 * in a busy workspace the next change comes before the response, and a page that cancelled its request would never show
 * anything new.
 */
export async function refetch(client: QueryClient, path: string): Promise<void> {
  if (refetching.has(path)) return void refetching.set(path, true)
  const queryKey = [path]
  do {
    refetching.set(path, false)
    // One change can have several topics.
    await waitMs(50)
    const gap = waitMs(shortestGapMs)
    // A request that began earlier may not have the change.
    refetching.set(path, client.isFetching({ queryKey }) > 0)
    await client.invalidateQueries({ queryKey }, { cancelRefetch: false })
    await gap
  } while (refetching.get(path))
  refetching.delete(path)
}

const waitMs = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Calls `onChange` with each topic that changed, and with 'all' when events may have been missed. */
export function listen(workspace: string, onChange: (topic: Topic | 'all') => void): () => void {
  const stream = streams.get(workspace) ?? openStream(workspace)
  stream.listeners.add(onChange)
  return () => {
    stream.listeners.delete(onChange)
    // Navigation removes the old page's listener before the next page adds its own: keep the stream open in between.
    setTimeout(() => stream.listeners.size === 0 && stream.close(), 500)
  }
}

interface Stream {
  listeners: Set<(topic: Topic | 'all') => void>
  close(): void
}

const streams = new Map<string, Stream>()

function openStream(workspace: string): Stream {
  const listeners: Stream['listeners'] = new Set()
  let source: EventSource | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let failures = 0
  // Pages read their data while the stream is being opened.
  let hasMissed = true

  const notify = (topic: Topic | 'all') => {
    for (const onChange of listeners) onChange(topic)
  }
  const stop = () => {
    clearTimeout(timer)
    source?.close()
    source = null
  }
  const start = () => {
    stop()
    if (document.hidden) return
    source = new EventSource(`/console/api/w/${encodeURIComponent(workspace)}/live`)
    source.onopen = () => {
      failures = 0
      reconnecting.set(false)
      if (hasMissed) notify('all')
      hasMissed = false
    }
    source.onerror = retry
    source.addEventListener('change', (event) => notify((JSON.parse(event.data) as { topic: Topic }).topic))
    source.addEventListener('end', (event) => {
      const { reason } = JSON.parse(event.data) as { reason: string }
      // With too many tabs, reconnecting would end the stream of another one.
      if (reason === 'too_many') stop()
      else retry()
      // If the session has ended, this leads to the sign-in page.
      notify('all')
    })
  }
  const retry = () => {
    stop()
    hasMissed = true
    failures += 1
    if (failures > 1) reconnecting.set(true)
    const pauseMs = Math.min(30_000, 500 * 2 ** failures)
    timer = setTimeout(start, pauseMs * (0.75 + Math.random() / 2))
  }
  const onVisibility = () => {
    if (document.hidden) {
      stop()
      hasMissed = true
    } else if (!source) start()
  }
  const stream: Stream = {
    listeners,
    close() {
      stop()
      streams.delete(workspace)
      document.removeEventListener('visibilitychange', onVisibility)
      removeEventListener('online', start)
      reconnecting.set(false)
    },
  }
  streams.set(workspace, stream)
  document.addEventListener('visibilitychange', onVisibility)
  addEventListener('online', start)
  start()
  return stream
}
