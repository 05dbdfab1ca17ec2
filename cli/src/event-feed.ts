import { type EventType, eventTypes } from '@parley/contract/events'
import { listenForChanges } from '@parley/server/db/listen-for-changes'
import type { OnChange } from '@parley/server/db/notices/change-notices'
import {
  newPulling,
  type PullDeps,
  type PulledPage,
  pullEvents,
} from '@parley/server/domain/deliveries/pulling/pull-events'
import type { Workspace } from '@parley/server/domain/workspaces/workspaces'
import { silentLogger } from '@parley/server/telemetry/silent-logger'
import { type Call, UsageError } from './command.ts'
import { keepReading } from './keep-reading.ts'
import { readList } from './read-options.ts'

/** How long one read waits for an event. */
const waitSeconds = 25

/** The events of a workspace, as `GET /v1/events` gives them. */
export interface EventFeed {
  read(query: Parameters<typeof pullEvents>[1]): Promise<PulledPage>
  /** Passes events on, one after the other, until it is stopped. Returns where it stopped. */
  follow(options: FollowOptions, take: (body: Buffer) => Promise<void>): Promise<string>
  close(): Promise<void>
}

interface FollowOptions {
  after: string
  types: EventType[] | undefined
}

/** `signal` ends a read that waits for an event. */
export async function openFeed(
  call: Call,
  workspace: Workspace,
  signal: AbortSignal = call.stopped,
): Promise<EventFeed> {
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

/** The event types of an option; undefined for all. */
export function readTypes(given: readonly string[]): EventType[] | undefined {
  const types = readList(given).map((text) => eventTypes.find((each) => each === text) ?? refuseType(text))
  return types.length > 0 ? types : undefined
}

export function refuseType(text: string): never {
  throw new UsageError(`"${text}" is not an event type. Choose from ${eventTypes.join(', ')}.`)
}
