import type { EventType } from './contract.ts'
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

/** Events, as webhooks deliver them. Scope `events:read`. */
export interface Events {
  /** One page. With `wait`, an empty page waits for up to this many seconds, at most 25, until there is an event. */
  read(query?: EventQuery & { wait?: number | undefined }, options?: CallOptions): Promise<EventPage>
  /**
   * Every page that has events, and then those that follow, until `signal` aborts. Store `next_cursor` when you have handled
   * the events of a page, and continue with it after a restart.
   */
  follow(query?: EventQuery, options?: CallOptions): AsyncIterable<EventPage>
}

const waitSeconds = 25
/** Longer than the service waits. */
const timeoutMs = 60_000

export function newEvents({ get }: Transport): Events {
  const read: Events['read'] = (query = {}, options) =>
    get('/v1/events', { ...query }, { ...(query.wait ? { timeoutMs } : {}), ...options })
  return {
    read,
    async *follow(query = {}, options) {
      for (let after = query.after; ; ) {
        const page = await read({ ...query, after, wait: waitSeconds }, options)
        if (page.data.length > 0) yield page
        after = page.next_cursor
      }
    },
  }
}
