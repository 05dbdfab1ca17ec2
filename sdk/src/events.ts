import type { EventType } from './contract.ts'
import type { ParleyError } from './error.ts'
import { pause, waitBeforeReading } from './retry.ts'
import type { SeenEvents } from './seen.ts'
import type { CallOptions, Transport } from './transport.ts'
import type { ParleyEvent } from './verify.ts'

export interface EventQuery {
  /** The `next_cursor` of the last page, or `latest` to begin now. Without it, reading begins with the oldest event that is stored. */
  after?: string | undefined
  /** Only events of these types. */
  type?: EventType | readonly EventType[] | undefined
  /** The maximum number of events on a page: 1 to 1000. Default: 100. */
  limit?: number | undefined
}

export interface EventPage {
  object: 'list'
  data: ParleyEvent[]
  /** Whether there may be more events now. */
  has_more: boolean
  /** Pass it as `after` to get what follows. Always set. */
  next_cursor: string
}

/** Where a program keeps its place in the events: a row of a database, a file, a key of a worker's storage. */
export interface CursorStore {
  /** The cursor that was saved last; null or undefined if there is none. */
  load(): string | null | undefined | Promise<string | null | undefined>
  save(cursor: string): unknown
}

export interface FollowOptions {
  /** Ends the reading. */
  signal?: AbortSignal | undefined
  /** Called when reading failed and will be repeated after `waitMs`: the service is down, or the rate limit is exceeded. */
  onRetry?: ((error: ParleyError, waitMs: number) => void) | undefined
}

export interface StreamOptions extends EventQuery, FollowOptions {
  /**
   * Keeps the cursor, so that a restarted program continues where it was. It takes precedence over `after`, which is for the
   * first start. Default: nothing is kept.
   */
  store?: CursorStore | undefined
  /** Drops events whose ID it knows, such as `newSeenEvents()`. Events are repeated if the program ends within a page. */
  seen?: SeenEvents | undefined
}

/** Events, as webhooks deliver them. Scope `events:read`. */
export interface Events {
  /** One page. With `wait`, an empty page waits for up to this many seconds, at most 25, until there is an event. */
  read(query?: EventQuery & { wait?: number | undefined }, options?: CallOptions): Promise<EventPage>
  /**
   * Every stored event, then new events, until `signal` aborts. While the service cannot be reached it waits and tries
   * again; a `Retry-After` of more than ten minutes is an error. The cursor is saved when your code asks for the event
   * after the last one of a page: if the program ends before, the events of that page are repeated. Throws a
   * `CursorExpiredError` if events were deleted.
   */
  stream(options?: StreamOptions): AsyncGenerator<ParleyEvent, void, undefined>
  /**
   * Like `stream`, with pages instead of events: you store `next_cursor`, for example in the same transaction as what you did
   * with the events. If `signal` aborts, it throws the signal's reason.
   */
  follow(query?: EventQuery, options?: FollowOptions): AsyncGenerator<EventPage, void, undefined>
}

const waitSeconds = 25
/** Longer than the service waits. */
const timeoutMs = 60_000

export function newEvents({ get }: Transport): Events {
  const read: Events['read'] = (query = {}, options) =>
    get('/v1/events', { ...query }, { ...(query.wait ? { timeoutMs } : {}), ...options })

  /** Every page, also an empty one, whose cursor is newer. */
  async function* pages(
    query: EventQuery,
    { signal, onRetry }: FollowOptions,
  ): AsyncGenerator<EventPage, void, undefined> {
    let failures = 0
    for (let after = query.after; ; ) {
      let page: EventPage
      try {
        // "Now" becomes a cursor immediately: if this request failed after a wait, the next one would begin later.
        const wait = after === 'latest' ? 0 : waitSeconds
        page = await read({ ...query, after, wait }, { signal, maxRetries: 0 })
        failures = 0
      } catch (error) {
        if (signal?.aborted) throw signal.reason
        const waitMs = waitBeforeReading(error, ++failures)
        if (waitMs === null) throw error
        onRetry?.(error as ParleyError, waitMs)
        await pause(waitMs, signal)
        continue
      }
      yield page
      after = page.next_cursor
    }
  }

  return {
    read,
    async *follow(query = {}, options = {}) {
      for await (const page of pages(query, options)) if (page.data.length > 0) yield page
    },
    async *stream({ store, seen, signal, onRetry, ...query } = {}) {
      const after = (await store?.load()) ?? query.after
      try {
        for await (const page of pages({ ...query, after }, { signal, onRetry })) {
          for (const event of page.data) {
            if (await seen?.has(event.id)) continue
            signal?.throwIfAborted()
            yield event
            await seen?.add(event.id)
          }
          await store?.save(page.next_cursor)
        }
      } catch (error) {
        if (!signal?.aborted || error !== signal.reason) throw error
      }
    },
  }
}
