import type { ObjectStore } from '../net/object-store.ts'
import type { LoopName } from '../telemetry/telemetry.ts'
import type { DeliveryTaker, FirstAttempts } from './notices/first-attempts.ts'
import { OtherWorkers, type SendNotices } from './notices/other-workers.ts'

/** Says that a topic changed in a workspace. Null if such notices may have been lost. */
export type OnChange = (change: { workspaceId: string; topic: string } | null) => void

/** In-memory state that the parts of a process share, as `db.process`. */
export interface ProcessState {
  /** The loops that run in this process. */
  readonly loops: Map<LoopName, { wake(): void }>
  /** What makes the first attempts of new deliveries: this process's worker or, in one that does not deliver, others. */
  firstAttempts: FirstAttempts | null
  /** The delivery worker, if it takes deliveries of other processes. */
  taker: DeliveryTaker | null
  readonly otherWorkers: OtherWorkers
  /** Numbers for which this process has accepted messages, by their ID, for its sending loop. Null if it has none. */
  newlyDue: Map<string, DueNumber> | null
  /** The store in PARLEY_FILES_URL; null if it is not set. Files in the database are read and written without it. */
  objects: ObjectStore | null
  /** Called with every change notice of all processes. */
  readonly onChange: Set<OnChange>
}

/** A number of a workspace that has messages to send. */
export interface DueNumber {
  id: string
  workspaceId: string
  connectionId: string
  throughput: string | null
}

export const newProcessState = (send: SendNotices = async (notices) => notices): ProcessState => ({
  loops: new Map(),
  firstAttempts: null,
  taker: null,
  otherWorkers: new OtherWorkers(send),
  newlyDue: null,
  objects: null,
  onChange: new Set(),
})
