/** How fast to send, and how long to wait when the network says so. All of it pure. */
import { deleteOldest } from '../../../lib/delete-oldest.ts'
import { type ErrorScope, findError } from '../../../whatsapp/errors.ts'

export interface Pace {
  gapSeconds: number
  burst: number
  /** Calls that may be under way at once: a number whose calls hang must not take up every connection. */
  atOnce: number
}

/**
 * The network takes 80 messages a second from a number, 1000 from one of high throughput. A steady nine tenths and a burst
 * of one tenth never make more than that within any second.
 */
export function paceOf(throughput: string | null): Pace {
  const perSecond = throughput === 'HIGH' ? 1000 : 80
  return { gapSeconds: 1 / (perSecond * 0.9), burst: perSecond / 10, atOnce: perSecond / 2 }
}

const pairGapMs = 6_000
const pairBurst = 45
const maxPairs = 100_000

/**
 * One message in six seconds from a number to one person, of which 45 may be borrowed from the future. Counted in this
 * process only; should it have forgotten some, the network says so (131056) and the pair waits.
 */
export class PairPaces {
  readonly #usedUntilMs = new Map<string, number>()

  /** Takes one; otherwise says when to ask again. */
  take(senderId: string, recipient: string, nowMs: number): { taken: true } | { taken: false; againMs: number } {
    const pair = `${senderId} ${recipient}`
    const used = Math.max(this.#usedUntilMs.get(pair) ?? 0, nowMs)
    const againMs = used + pairGapMs - pairBurst * pairGapMs
    if (againMs > nowMs) return { taken: false, againMs }
    this.#usedUntilMs.delete(pair)
    this.#usedUntilMs.set(pair, used + pairGapMs)
    deleteOldest(this.#usedUntilMs, maxPairs)
    return { taken: true }
  }
}

/** Who has to wait besides the message itself. */
export type Held = 'nobody' | 'pair' | 'sender' | 'connection' | 'app'

export function heldBy(scope: ErrorScope, isFinal: boolean): Held {
  switch (scope) {
    case 'message':
      return 'nobody'
    case 'recipient':
      return isFinal ? 'nobody' : 'pair'
    case 'number':
      return 'sender'
    case 'waba':
    case 'credentials':
      return 'connection'
    case 'app':
      return 'app'
  }
}

/**
 * How long, by how often in a row: as the network's error asks, or, where the error is final and the next message would
 * meet it too, from five seconds to five minutes. One message that goes through ends it.
 */
export function holdMs(code: number | string, failures: number): number {
  const entry = findError({ code })
  return entry.temporary ? entry.waitMs(failures) : Math.min(300_000, 5_000 * 2 ** (Math.min(failures, 10) - 1))
}
