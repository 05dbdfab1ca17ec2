/** How fast to send, and what has to wait after an error. Pure functions, except the counters of `PairPaces`. */
import { messagesPerSecond } from '@parley/contract/console/senders'
import { deleteOldest } from '../../../lib/delete-oldest.ts'
import type { ErrorScope } from '../../../whatsapp/graph/errors.ts'

export interface Pace {
  gapSeconds: number
  burst: number
  /** Maximum concurrent calls, so that a number whose calls hang does not use up all connections. */
  maxCalls: number
}

/**
 * WhatsApp accepts 80 messages a second from a number, 1000 with high throughput, and 20 if it is also used in the Business
 * app. A steady rate of nine tenths plus a burst of one tenth never exceeds that within any second.
 */
export function paceOf(throughput: string | null): Pace {
  const perSecond = messagesPerSecond[throughput ?? ''] ?? 80
  return { gapSeconds: 1 / (perSecond * 0.9), burst: perSecond / 10, maxCalls: perSecond / 2 }
}

const pairGapMs = 6_000
const pairBurst = 45
const maxPairs = 100_000

/**
 * WhatsApp's limit per sender and recipient: one message in six seconds, with a burst of 45. Counted in this process only.
 * If the count is too low, WhatsApp returns error 131056 and the pair is held.
 */
export class PairPaces {
  readonly #usedUntilMs = new Map<string, number>()

  /** Counts one message, or returns when to try again. */
  take(senderId: string, recipient: string, nowMs: number): { taken: true } | { taken: false; retryAtMs: number } {
    const pair = `${senderId} ${recipient}`
    const used = Math.max(this.#usedUntilMs.get(pair) ?? 0, nowMs)
    const retryAtMs = used + pairGapMs - pairBurst * pairGapMs
    if (retryAtMs > nowMs) return { taken: false, retryAtMs }
    this.#usedUntilMs.delete(pair)
    this.#usedUntilMs.set(pair, used + pairGapMs)
    deleteOldest(this.#usedUntilMs, maxPairs)
    return { taken: true }
  }
}

/** What an error holds in addition to the message itself. */
export type HoldTarget = 'none' | 'pair' | 'sender' | 'connection' | 'app'

export function holdTargetOf(scope: ErrorScope, isFinal: boolean): HoldTarget {
  switch (scope) {
    case 'message':
    case 'template':
      return 'none'
    case 'recipient':
      return isFinal ? 'none' : 'pair'
    case 'number':
      return 'sender'
    case 'waba':
    case 'credentials':
      return 'connection'
    case 'app':
    case 'service':
      return 'app'
  }
}
