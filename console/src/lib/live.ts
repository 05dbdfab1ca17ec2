import type { Topic } from '@parley/contract/console/topics'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { workspaceOf } from './api.ts'
import { createStore, useStore } from './store.ts'

/**
 * News from the service. One stream per workspace serves all who listen; it is closed while the tab is hidden and opened
 * again, with growing pauses, when it breaks. News is only a hint: whoever listens asks its queries again.
 */
const reconnecting = createStore(false)

/** Whether news has stopped coming because the service is out of reach. */
export const useIsReconnecting = () => useStore(reconnecting)

/** Asks the queries of a path again when the service says that one of `topics` changed in its workspace. */
export function useLive(path: string, topics: readonly Topic[]): void {
  const client = useQueryClient()
  const wanted = topics.join()
  useEffect(() => {
    const workspace = workspaceOf(path)
    if (workspace === '' || wanted === '') return
    return listen(workspace, (topic) => {
      if (topic === 'all' || wanted.split(',').includes(topic)) void client.invalidateQueries({ queryKey: [path] })
    })
  }, [path, wanted, client])
}

/** Calls `hear` with each topic that changed, and with 'all' when news may have been missed. */
export function listen(workspace: string, hear: (topic: Topic | 'all') => void): () => void {
  const stream = streams.get(workspace) ?? openStream(workspace)
  stream.listeners.add(hear)
  return () => {
    stream.listeners.delete(hear)
    // The next page listens at once; a stream is not closed for the moment between the two.
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
  let hasMissed = false

  const tell = (topic: Topic | 'all') => {
    for (const hear of listeners) hear(topic)
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
      if (hasMissed) tell('all')
      hasMissed = false
    }
    source.onerror = () => {
      stop()
      hasMissed = true
      failures += 1
      if (failures > 1) reconnecting.set(true)
      const pauseMs = Math.min(30_000, 500 * 2 ** failures)
      timer = setTimeout(start, pauseMs * (0.75 + Math.random() / 2))
    }
    source.addEventListener('change', (event) => tell((JSON.parse(event.data) as { topic: Topic }).topic))
    source.addEventListener('end', () => {
      stop()
      tell('all')
    })
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
