import { type AnyErrorCode, everyError } from '@parley/contract/console/errors'
import type { FieldError, FieldErrorCode } from '@parley/contract/field-errors'

export interface RefusalParts {
  message?: string
  param?: string
  errors?: FieldError[]
  details?: Record<string, unknown>
  headers?: Record<string, string>
}

/**
 * An error that the client caused or has to know about. `http/errors.ts` turns it into the response. Code usually calls
 * one of the `refuse` functions, which throw it; `new Refusal` is only for code that passes it on as a value.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: AnyErrorCode
  readonly status: number
  readonly parts: RefusalParts

  constructor(code: AnyErrorCode, parts: RefusalParts = {}) {
    super(parts.message ?? everyError[code].message)
    this.code = code
    this.status = everyError[code].status
    this.parts = parts
  }
}

export function refuse(code: AnyErrorCode, parts?: RefusalParts): never {
  throw new Refusal(code, parts)
}

/** Refuses what a client did too often. It may do it again at a time. */
export function refuseUntil(now: Date, until: Date, what: string): never {
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000))
  return refuse('too_many_attempts', {
    message: `${what}. Try again in ${seconds < 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`}.`,
    details: { retry_after: seconds },
    headers: { 'Retry-After': String(seconds) },
  })
}

/** Refuses the request with `validation_failed` and this one error. */
export function refuseParam(param: string, code: FieldErrorCode, message: string): never {
  throw invalid([{ param, code, message }])
}

export function refuseInvalid(fieldErrors: FieldError[]): never {
  throw invalid(fieldErrors)
}

export function refuseIfAny(fieldErrors: FieldError[]): void {
  if (fieldErrors.length > 0) refuseInvalid(fieldErrors)
}

/** The maximum number of field errors in a response; more would not be useful. */
export const fieldErrorsMax = 20

export function invalid(fieldErrors: FieldError[]): Refusal {
  const errors = fieldErrors.slice(0, fieldErrorsMax)
  const first = errors[0]
  return new Refusal('validation_failed', first ? { message: first.message, param: first.param, errors } : {})
}

/**
 * A problem outside the program: an invalid setting, a port in use, a full disk. The message is one line for people:
 * what is wrong, where, and how to fix it. It ends the program without a stack trace.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError'
}
