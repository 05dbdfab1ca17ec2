import type { Scope } from '@parley/contract/scopes'
import type { Refusal } from '../lib/refuse.ts'

/** The types between the request pipeline, which does not know API keys, and the code that checks keys and logs. */

export interface Caller {
  workspaceId: string
  keyId: string
  keyName: string
  /** The calling system: the same for a key and the keys that it was rotated from or to. */
  systemId: string
  systemKeyIds: readonly string[]
  scopes: readonly Scope[]
  rateLimitPerMin: number
  /** The workspace stores the bodies of its requests. */
  isInspected: boolean
}

/** The rate limit that a request counted against, as in its response headers. */
export interface RateLimitState {
  limit: number
  remaining: number
  resetSeconds: number
}

export type AccessDecision =
  | { kind: 'admitted'; caller: Caller | null; rateLimit: RateLimitState }
  | { kind: 'refused'; refusal: Refusal; caller: Caller | null; rateLimit: RateLimitState; keyHint: string | null }

/** The parts of a request that access depends on: its key, and the address it comes from. */
export interface AccessRequest {
  readonly authorization: string | undefined
  readonly address: string
  /** True if the route needs no key. */
  readonly isPublic: boolean
  /** True if it was counted before: it has waited, and is only checked again. */
  readonly isCounted?: boolean
}

/**
 * Decides whether a request is admitted, and counts it against its rate limit. Rejects if the database is unavailable.
 */
export type CheckAccess = (request: AccessRequest) => Promise<AccessDecision>

/** A request whose contents may be stored. */
export interface InspectedRequest {
  /** The path pattern of the route; null if none matches. */
  pattern: string | null
  params: unknown
  query: unknown
  body: { kind: 'none' | 'file' | 'unread' } | { kind: 'json'; value: unknown }
}

/** The response to it: JSON, a file or nothing. */
export type InspectedResponse =
  | { kind: 'none' }
  | { kind: 'file' }
  | { kind: 'json'; text: string }
  | { kind: 'error'; text: string }

/** What is stored of a body. Without text if it could not be redacted. */
export interface StoredText {
  text: string | null
  state: string
}

/** What is stored of a request in addition to its row in the request log. It is redacted already. */
export interface RequestContents {
  target: string
  error: StoredText | null
  /** Only if the workspace stores bodies. */
  bodies: { request: StoredText | null; response: StoredText | null } | null
}

/** Redacts what is stored of a request, before its response is sent. Null if nothing is. */
export type Inspect = (
  caller: { workspaceId: string; isInspected: boolean },
  now: Date,
  code: string | null,
  request: InspectedRequest,
  response: InspectedResponse,
) => RequestContents | null

export interface RequestRecord {
  id: string
  at: Date
  caller: { workspaceId: string; keyId: string } | null
  method: string
  route: string
  status: number
  code: string | null
  durationUs: number
  address: string
  userAgent: string | null
  /** For an invalid key that has the format of a key: the part of it that lists of keys show. */
  keyHint?: string | null
  contents?: RequestContents | null
}

export interface KeyUse {
  keyId: string
  workspaceId: string
  /** A number, because `Date` objects in a long-lived map make garbage collection expensive. */
  atMs: number
  address: string
}
