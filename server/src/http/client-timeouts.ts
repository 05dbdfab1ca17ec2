/** How long a client may take. Whatever it does, a request is cut or answered within half a minute. */
export interface ClientTimeouts {
  /** Until the headers are here. */
  headersMs: number
  /** For the body, from when it is asked for. */
  bodyMs: number
  /** Until the whole request is here, for bodies that nobody reads. */
  requestMs: number
  /** How often connections are looked at. */
  checkMs: number
  /** How often it is looked whether whoever watches a stream still may. */
  streamCheckMs: number
}

export const defaultClientTimeouts: ClientTimeouts = {
  headersMs: 15_000,
  bodyMs: 20_000,
  requestMs: 27_000,
  checkMs: 2_000,
  streamCheckMs: 30_000,
}
