import type { Batch } from './batch.ts'
import type { Update } from './envelope.ts'

/** The webhook updates of one app that were not accepted yet. */
export interface AppQueue {
  /** All updates: delayed, waiting and in batches. */
  size: number
  delayed: Set<Update>
  waiting: Update[]
  batches: Set<Batch>
  inFlight: number
  failing: boolean
  reverse: boolean
  dispatchScheduled: boolean
}

export function newAppQueue(): AppQueue {
  return {
    size: 0,
    delayed: new Set(),
    waiting: [],
    batches: new Set(),
    inFlight: 0,
    failing: false,
    reverse: false,
    dispatchScheduled: false,
  }
}
