/** How long a client may take. Together they end every request, with a response or without, within 30 seconds. */
export interface ClientTimeouts {
  /** Until the headers have arrived. */
  headersMs: number
  /** For the body, from the moment the handler requests it. */
  bodyMs: number
  /** Until the whole request has arrived; for bodies that no handler reads. */
  requestMs: number
  /** How often connections are checked. */
  checkMs: number
  /** How often the permission to watch a stream is checked. */
  streamCheckMs: number
}

export const defaultClientTimeouts: ClientTimeouts = {
  headersMs: 15_000,
  bodyMs: 20_000,
  requestMs: 27_000,
  checkMs: 2_000,
  streamCheckMs: 30_000,
}
