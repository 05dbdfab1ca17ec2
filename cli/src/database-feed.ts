import { listenForChanges } from '@parley/server/db/listen-for-changes'
import type { OnChange } from '@parley/server/db/notices/change-notices'
import { newPulling, type PullDeps, pullEvents } from '@parley/server/domain/deliveries/pulling/pull-events'
import type { Workspace } from '@parley/server/domain/workspaces/workspaces'
import { silentLogger } from '@parley/server/telemetry/silent-logger'
import type { Call } from './command.ts'
import type { EventFeed, FollowOptions } from './event-feed.ts'
import { keepReading } from './keep-reading.ts'

/** How long one read waits for an event. */
const waitSeconds = 25

/** `signal` ends a read that waits for an event. */
export async function openFeed(call: Call, workspace: Workspace, signal: AbortSignal): Promise<EventFeed> {
  const db = await call.db()
  const changes = new Set<OnChange>()
  const listener = listenForChanges(db, silentLogger, changes)
  const deps: PullDeps = {
    db: db.within(workspace.id),
    clock: call.clock,
    workspaceId: workspace.id,
    pulling: newPulling({ db, changes, secretKeys: call.config.secretKeys() }),
    hold: (ms, subscribe) => holdUntil(signal, ms, subscribe),
  }
  await listener.ready
  return {
    read: (query) => pullEvents(deps, query),
    follow: (options, take) => follow(deps, options, signal, take),
    close: () => listener.stop(),
  }
}

async function follow(
  deps: PullDeps,
  { after, types }: FollowOptions,
  signal: AbortSignal,
  take: (body: Buffer) => Promise<void>,
): Promise<string> {
  let cursor = after
  await keepReading(signal, async () => {
    const query = { after: cursor, wait: waitSeconds, ...(types && { type: types }) }
    const { bodies, nextCursor } = await pullEvents(deps, query)
    for (const body of bodies) {
      // The cursor stays before a page that was not printed to its end.
      if (signal.aborted) return
      await take(body)
    }
    if (!signal.aborted) cursor = nextCursor
  })
  return cursor
}

function holdUntil(
  signal: AbortSignal,
  ms: number,
  subscribe: Parameters<PullDeps['hold']>[1],
): ReturnType<PullDeps['hold']> {
  if (signal.aborted) return Promise.resolve('ended')
  return new Promise((resolve) => {
    const end = (how: 'woken' | 'over' | 'ended') => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      unsubscribe()
      resolve(how)
    }
    const onAbort = () => end('ended')
    const timer = setTimeout(() => end('over'), ms)
    signal.addEventListener('abort', onAbort)
    const unsubscribe = subscribe(() => end('woken'))
  })
}
