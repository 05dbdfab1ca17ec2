import { Refusal } from '../lib/refuse.ts'
import type { Counters } from '../telemetry/counters.ts'
import type { Logger } from '../telemetry/logger.ts'

/** The limits of a process, each with the message for a client whose request exceeds it. */
const messages = {
  process_connections: null,
  address_connections: null,
  pipelined_requests: null,
  unread_responses: null,
  stalled_connections: null,
  process_requests: 'The service has too many requests in progress. Try again shortly.',
  address_requests: 'The service has too many requests from your IP address in progress. Try again shortly.',
  workspace_requests: 'The service has too many requests of this workspace in progress. Try again shortly.',
  held_requests: 'The service has too many requests that wait for events. Try again shortly, or without "wait".',
  process_bodies: 'The service is receiving too many large requests. Try again shortly.',
  address_bodies: 'The service is receiving too many large requests from your IP address. Try again shortly.',
  workspace_bodies: 'The service is receiving too many large requests of this workspace. Try again shortly.',
  workspace_uploads: 'The service is receiving too many files of this workspace. Try again shortly.',
  invalid_signatures: 'Your IP address has sent too many webhooks with an invalid signature. Try again shortly.',
  waiting_updates: 'Too many updates are waiting for the database. Try again shortly.',
  live_streams: 'The service has too many open live streams. Try again shortly.',
} as const

export type OverloadLimit = keyof typeof messages

/** A flood must not fill the log: one line per limit in this time, with the number of refusals since the last one. */
const logEveryMs = 10_000

/** Counts and logs everything that a process refuses because of a limit. */
export class Overload {
  readonly #counters: Counters
  readonly #log: Logger
  readonly #unlogged = new Map<OverloadLimit, { count: number; loggedMs: number }>()

  constructor(counters: Counters, log: Logger) {
    this.#counters = counters
    this.#log = log
  }

  /** Counts a connection or a request that exceeded a limit. */
  count(limit: OverloadLimit, address?: string): void {
    this.#counters.add('overload', limit)
    const nowMs = performance.now()
    const entry = this.#unlogged.get(limit) ?? { count: 0, loggedMs: Number.NEGATIVE_INFINITY }
    this.#unlogged.set(limit, entry)
    entry.count++
    if (nowMs - entry.loggedMs < logEveryMs) return
    const fields = { limit, count: entry.count, ...(address !== undefined && { address }) }
    this.#log.warn({ event: 'http.overload', ...fields }, 'connections or requests exceeded a limit')
    entry.count = 0
    entry.loggedMs = nowMs
  }

  /** Counts a request that exceeded a limit, and returns the error for its response: 503 with `Retry-After`. */
  refusal(limit: OverloadLimit, address?: string, headers: Record<string, string> = {}): Refusal {
    this.count(limit, address)
    const message = messages[limit]
    return new Refusal('service_unavailable', { ...(message !== null && { message }), headers })
  }
}
