import type { MessageError } from '@parley/contract/events'
import type { CallOutcome } from '../graph/call.ts'
import type { Accepted } from '../graph/client.ts'
import { type ErrorScope, findError } from '../graph/errors.ts'

export type SendDecision =
  | ({ kind: 'sent' } & Accepted)
  /** WhatsApp did not accept the message. Retry it later. */
  | ({ kind: 'retry'; afterMs: number } & NotSent)
  | ({ kind: 'failed' } & NotSent)
  /** It may have been sent, so it must not be retried. A later status webhook, which has our ID, gives the outcome. */
  | { kind: 'unknown'; error: MessageError }

interface NotSent {
  /** What else gets this error. */
  scope: ErrorScope
  error: MessageError
  /** How long to hold what the scope names, after this many such failures in a row. */
  holdMs: (failures: number) => number
}

/** What to do after a send request. `attempt` is the number of requests for this message, including this one. */
export function classifySendOutcome(outcome: CallOutcome<Accepted>, attempt: number): SendDecision {
  switch (outcome.kind) {
    case 'ok':
      return { kind: 'sent', ...outcome.value }
    case 'unreachable': {
      const error = unreachable(outcome.why)
      // The request itself is invalid: the token or an ID has characters that a header or path cannot contain.
      if (outcome.why === 'UND_ERR_INVALID_ARG') return { kind: 'failed', scope: 'credentials', error, holdMs: probeMs }
      return { kind: 'retry', afterMs: reconnectMs(attempt), scope: 'app', error, holdMs: probeMs }
    }
    case 'unknown':
      return { kind: 'unknown', error: outcomeUnknown(outcome.why) }
    case 'refused': {
      const { error, status, subcode, isTransient } = outcome
      const askedMs = outcome.retryAfterMs ?? 0
      const entry = findError({ code: error.code, subcode, isTransient, status })
      const { scope } = entry
      if (!entry.temporary) return { kind: 'failed', scope, error, holdMs: probeMs }
      const holdMs = (failures: number) =>
        Math.max(askedMs, entry.scope === 'service' ? serviceHoldMs(failures) : entry.waitMs(failures))
      if (attempt >= entry.maxAttempts) return { kind: 'failed', scope, error, holdMs }
      return { kind: 'retry', afterMs: Math.max(askedMs, entry.waitMs(attempt)), scope, error, holdMs }
    }
  }
}

/** After an error that the next message would get too, the delay doubles from five seconds to five minutes. */
function probeMs(failures: number): number {
  return Math.min(300_000, 5_000 * 2 ** (Math.min(failures, 10) - 1))
}

/** A single call may fail alone, so others are held only from the third failure in a row on, and for at most a minute. */
function serviceHoldMs(failures: number): number {
  return failures < 3 ? 0 : Math.min(60_000, 1000 * 2 ** (failures - 3))
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
