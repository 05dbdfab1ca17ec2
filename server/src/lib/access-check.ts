import type { Scope } from '@parley/contract/scopes'
import type { Refusal } from './refuse.ts'

/** The words between the pipeline, which knows nothing of keys, and those who authenticate and record for it. */

/** Who is calling, once known. */
export interface Caller {
  workspaceId: string
  keyId: string
  keyName: string
  scopes: readonly Scope[]
  budget: number
}

/** The budget a request was charged to, as its headers tell it. */
export interface RateLimitState {
  limit: number
  remaining: number
  resetSeconds: number
}

export type AccessDecision =
  | { kind: 'admitted'; caller: Caller | null; budget: RateLimitState }
  | { kind: 'refused'; refusal: Refusal; caller: Caller | null; budget: RateLimitState }

/** What decides about a request: the key it presents, and where it comes from. */
export interface AccessRequest {
  readonly authorization: string | undefined
  readonly address: string
  /** It goes to a place that needs no key. */
  readonly isPublic: boolean
}

/** Decides whether a request is let in, and charges it. Rejects if the database cannot be asked. */
export type CheckAccess = (visitor: AccessRequest) => Promise<AccessDecision>

export interface RequestRecord {
  id: string
  at: Date
  caller: Caller | null
  method: string
  route: string
  status: number
  code: string | null
  durationUs: number
  address: string
  userAgent: string | null
}
