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
 * The caller asked for something we will not do; `http/errors.ts` makes the response. Code that stops there calls one of the
 * `refuse` functions; a `Refusal` is made by hand only where it is passed on as a value.
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

/** One fault of the request, as `validation_failed` reports it. */
export function refuseParam(param: string, code: FieldErrorCode, message: string): never {
  throw invalid([{ param, code, message }])
}

export function refuseInvalid(faults: FieldError[]): never {
  throw invalid(faults)
}

export function refuseIfAny(faults: FieldError[]): void {
  if (faults.length > 0) refuseInvalid(faults)
}

/** More faults than this are not told; they would not help anybody. */
export const fieldErrorsMax = 20

export function invalid(faults: FieldError[]): Refusal {
  const errors = faults.slice(0, fieldErrorsMax)
  const first = errors[0]
  return new Refusal('validation_failed', first ? { message: first.message, param: first.param, errors } : {})
}

/**
 * Something outside the program is not as it must be (a bad setting, a port in use, a full disk). The message is one
 * line for a person: what is wrong, where, and what to do. It ends the program without a stack trace.
 */
export class StartupError extends Error {
  override readonly name = 'Unfit'
}
