import type { MessageError } from '@parley/contract/events'
import type { Accepted } from './client.ts'
import { type ErrorScope, findError } from './errors.ts'
import type { CallOutcome } from './graph-call.ts'

export type SendDecision =
  | { kind: 'sent'; waMessageId: string; waId: string | null; userId: string | null; held: boolean }
  /** WhatsApp did not accept the message. Retry it later. */
  | { kind: 'retry'; afterMs: number; scope: ErrorScope; error: MessageError }
  /** With the scope `credentials`, `number` or `waba`, the next message would fail as well. */
  | { kind: 'failed'; scope: ErrorScope; error: MessageError }
  /** It may have been sent, so it must not be retried. A later status webhook, which has our ID, gives the outcome. */
  | { kind: 'unknown'; error: MessageError }

/** What to do after a send request. `attempt` is the number of requests for this message, including this one. */
export function classifySendOutcome(outcome: CallOutcome<Accepted>, attempt: number): SendDecision {
  switch (outcome.kind) {
    case 'ok':
      return { kind: 'sent', ...outcome.value }
    case 'unreachable':
      // The request itself is invalid: the token or an ID has characters that a header or path cannot contain.
      if (outcome.why === 'UND_ERR_INVALID_ARG') {
        return { kind: 'failed', scope: 'credentials', error: unreachable(outcome.why) }
      }
      return { kind: 'retry', afterMs: reconnectMs(attempt), scope: 'app', error: unreachable(outcome.why) }
    case 'unknown':
      return { kind: 'unknown', error: outcomeUnknown(outcome.why) }
    case 'refused': {
      const { error, isTransient, status, retryAfterMs } = outcome
      const entry = findError({ code: error.code, isTransient, status })
      if (!entry.temporary || attempt >= entry.maxAttempts) return { kind: 'failed', scope: entry.scope, error }
      return { kind: 'retry', afterMs: Math.max(entry.waitMs(attempt), retryAfterMs ?? 0), scope: entry.scope, error }
    }
  }
}

/** Nothing was sent, so retries are unlimited. The caller gives up when the message expires. */
function reconnectMs(attempt: number): number {
  return Math.min(60_000, 1000 * 2 ** Math.max(0, attempt - 1))
}

export function outcomeUnknown(why: string): MessageError {
  return {
    code: 'outcome_unknown',
    title: 'Outcome unknown',
    message: 'WhatsApp did not confirm whether it accepted the message.',
    details: why,
  }
}

function unreachable(why: string): MessageError {
  return {
    code: 'unreachable',
    title: 'WhatsApp unreachable',
    message: 'WhatsApp could not be reached.',
    details: why,
  }
}
