import type { Batch } from './batch.ts'
import type { Update } from './envelope.ts'

/** What one app has still to be told. */
export interface SendQueue {
  /** Updates in it, wherever they are. */
  size: number
  delayed: Set<Update>
  waiting: Update[]
  batches: Set<Batch>
  inFlight: number
  failing: boolean
  reverse: boolean
  gathering: boolean
}

export function newSendQueue(): SendQueue {
  return {
    size: 0,
    delayed: new Set(),
    waiting: [],
    batches: new Set(),
    inFlight: 0,
    failing: false,
    reverse: false,
    gathering: false,
  }
}
