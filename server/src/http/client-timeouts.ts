/**
 * How long a client may take. Together they end every request, with a response or without, within 30 seconds; only one that
 * uploads a file may take longer.
 */
export interface ClientTimeouts {
  /** Until the headers have arrived. */
  headersMs: number
  /** For the body, from the moment the handler requests it. */
  bodyMs: number
  /** Until the whole request has arrived; for bodies that no handler reads. */
  requestMs: number
  /** For a file, from the moment the handler requests it. */
  uploadMs: number
  /** Without a byte of a file. */
  uploadIdleMs: number
  /** How long the rest of a refused file is discarded, so that the client gets the response. */
  discardMs: number
  /** Without a request. */
  keepAliveMs: number
  /** With a request, and without a byte in either direction: the client does not read the response. */
  stalledMs: number
  /** How often connections are checked. */
  checkMs: number
  /** How often the permission to watch a stream is checked. */
  streamCheckMs: number
}

export const defaultClientTimeouts: ClientTimeouts = {
  headersMs: 15_000,
  bodyMs: 20_000,
  requestMs: 27_000,
  // 100 MB at 1 Mbit/s.
  uploadMs: 15 * 60_000,
  uploadIdleMs: 20_000,
  discardMs: 10_000,
  // Longer than usual for proxies, so that they close a connection first.
  keepAliveMs: 75_000,
  // Longer than the slowest request waits for the database.
  stalledMs: 60_000,
  checkMs: 2_000,
  streamCheckMs: 30_000,
}
