import { Counters } from './counters.ts'
import type { FirstAttempts } from './first-attempts.ts'

/** The names of all background loops, as in logs and metrics. */
export type LoopName =
  | 'budget windows'
  | 'clock'
  | 'deliveries'
  | 'early statuses'
  | 'fetch files'
  | 'held deliveries'
  | 'idempotency keys'
  | 'missing visits'
  | 'old files'
  | 'older messages'
  | 'partitions'
  | 'prove the ledger'
  | 'release parked updates'
  | 'retention'
  | 'send'
  | 'sign-ins'
  | 'synchronise'
  | 'tidy the outbox'

/** In-memory state that the parts of a process share, as `db.process`. */
export interface ProcessState {
  /** Counters and durations for /metrics. */
  readonly metrics: Counters
  /** The loops that run in this process. */
  readonly loops: Map<LoopName, { wake(): void }>
  /** The delivery worker; null in a process that does not deliver. */
  firstAttempts: FirstAttempts | null
}

export const newProcessState = (): ProcessState => ({ metrics: new Counters(), loops: new Map(), firstAttempts: null })
