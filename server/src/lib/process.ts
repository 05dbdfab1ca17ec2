import { Counters } from './counters.ts'
import type { FirstAttempts } from './first-attempts.ts'

/** Every loop there is; operators see these names in the metrics. */
export type LoopName =
  | 'budget windows'
  | 'clock'
  | 'deliveries'
  | 'early statuses'
  | 'fetch files'
  | 'held deliveries'
  | 'idempotency keys'
  | 'old files'
  | 'partitions'
  | 'prove the ledger'
  | 'release parked updates'
  | 'retention'
  | 'send'
  | 'sign-ins'
  | 'synchronise'
  | 'tidy the outbox'

/** What the parts of a process share in memory. Made with its database; `db.process` is the same in every transaction. */
export interface ProcessState {
  /** Counts and durations, for /metrics. */
  readonly metrics: Counters
  /** The loops that run here. */
  readonly loops: Map<LoopName, { wake(): void }>
  /** The delivery worker; null in a process that does not deliver. */
  firstAttempts: FirstAttempts | null
}

export const newProcessState = (): ProcessState => ({ metrics: new Counters(), loops: new Map(), firstAttempts: null })
