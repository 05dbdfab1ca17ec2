import type { MessageError } from '@parley/contract/events'
import type { Accepted } from './client.ts'
import { type ErrorScope, findError } from './errors.ts'
import type { CallOutcome } from './graph-call.ts'

export type SendDecision =
  | { kind: 'sent'; waMessageId: string; waId: string | null; userId: string | null; held: boolean }
  /** The network did not take it; the same message may be tried again after a while. */
  | { kind: 'retry'; afterMs: number; scope: ErrorScope; error: MessageError }
  /** `scope` says what the refusal speaks of: `credentials`, `number` and `waba` will refuse the next message too. */
  | { kind: 'failed'; scope: ErrorScope; error: MessageError }
  /** It may have been sent. Never repeat it blindly: a later status, which carries our id, settles it. */
  | { kind: 'unknown'; error: MessageError }

/** What to do after a send call. `attempt` counts the calls made for this message, this one included. */
export function classifySendOutcome(outcome: CallOutcome<Accepted>, attempt: number): SendDecision {
  switch (outcome.kind) {
    case 'ok':
      return { kind: 'sent', ...outcome.value }
    case 'unreachable':
      // Not the network but the request itself: a token or id that no header or path can hold.
      if (outcome.why === 'UND_ERR_INVALID_ARG') {
        return { kind: 'failed', scope: 'credentials', error: unreachable(outcome.why) }
      }
      return { kind: 'retry', afterMs: reconnectMs(attempt), scope: 'app', error: unreachable(outcome.why) }
    case 'unknown':
      return { kind: 'unknown', error: outcomeUnknown(outcome.why) }
    case 'refused': {
      const { error, isTransient, status, retryAfterMs } = outcome
      const entry = findError({ code: error.code, isTransient, status })
      if (!entry.temporary || attempt >= entry.maxTries) return { kind: 'failed', scope: entry.scope, error }
      return { kind: 'retry', afterMs: Math.max(entry.waitMs(attempt), retryAfterMs ?? 0), scope: entry.scope, error }
    }
  }
}

/** Nothing was sent, so this may go on for as long as the message is worth sending; the caller decides when it is not. */
function reconnectMs(attempt: number): number {
  return Math.min(60_000, 1000 * 2 ** Math.max(0, attempt - 1))
}

export function outcomeUnknown(why: string): MessageError {
  return {
    code: 'outcome_unknown',
    title: 'Outcome unknown',
    message: 'The network did not say whether it took the message.',
    details: why,
  }
}

function unreachable(why: string): MessageError {
  return {
    code: 'unreachable',
    title: 'Network unreachable',
    message: 'The network could not be reached.',
    details: why,
  }
}
