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
export interface Budget {
  limit: number
  remaining: number
  resetSeconds: number
}

export type Admission =
  | { kind: 'admitted'; caller: Caller | null; budget: Budget }
  | { kind: 'refused'; refusal: Refusal; caller: Caller | null; budget: Budget }

/**
 * A request at the gate. It is told, once, what was decided or why nothing could be; neither may throw. Where that takes
 * longer than the turn it came in with, it is told before that it has to wait.
 */
export interface Visitor {
  readonly authorization: string | undefined
  readonly address: string
  /** It goes to a place that needs no key. */
  readonly isPublic: boolean
  waits(): void
  decided(admission: Admission): void
  failed(error: unknown): void
}

/** Decides whether a request is let in, and charges it. */
export type Admit = (visitor: Visitor) => void

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
