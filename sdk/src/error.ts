import type { ErrorCode, ErrorType, FieldError } from './contract.ts'

/**
 * Faults that the client itself finds. `connection_failed`: no answer came. `timeout`: none came in time.
 * `unexpected_answer`: something answered that is not the service, so the base URL is likely wrong.
 */
export type ClientFault = 'connection_failed' | 'timeout' | 'unexpected_answer'

/** Further codes may appear; `string & {}` keeps the known ones in the editor's suggestions. */
export type ParleyErrorCode = ErrorCode | ClientFault | (string & {})

/** Whatever kept a call from being answered. Branch on `code`. */
export class ParleyError extends Error {
  override readonly name = 'ParleyError'
  /** Stable, unlike the message. */
  readonly code: ParleyErrorCode
  readonly type: ErrorType | 'client_error' | (string & {})
  /** The HTTP status; 0 where no answer came. */
  readonly status: number
  /** Names the request in the service's log. */
  readonly requestId: string | null
  /** The first parameter at fault. */
  readonly param: string | null
  /** Every fault of the request that was found. */
  readonly errors: readonly FieldError[]
  readonly details: Readonly<Record<string, unknown>>
  /** The seconds after which the service asks to be called again. */
  readonly retryAfter: number | null
  /** What a send was made under. Give it to the next `send` to repeat this one without sending twice. */
  readonly idempotencyKey: string | null

  constructor(message: string, known: KnownError) {
    super(message, known.cause === undefined ? undefined : { cause: known.cause })
    this.code = known.code
    this.type = known.type ?? 'client_error'
    this.status = known.status ?? 0
    this.requestId = known.requestId ?? null
    this.param = known.param ?? null
    this.errors = known.errors ?? []
    this.details = known.details ?? {}
    this.retryAfter = known.retryAfter ?? null
    this.idempotencyKey = known.idempotencyKey ?? null
  }
}

interface KnownError {
  code: ParleyErrorCode
  type?: string
  status?: number
  requestId?: string | null
  param?: string | null
  errors?: readonly FieldError[]
  details?: Record<string, unknown>
  retryAfter?: number | null
  idempotencyKey?: string | null
  cause?: unknown
}

/** The error that an answer carries; null if it does not speak as the service does. */
export function errorOfAnswer(response: Response, text: string, idempotencyKey: string | null): ParleyError | null {
  const error = errorIn(text)
  if (!error || typeof error.code !== 'string') return null
  return new ParleyError(textOr(error.message, null) ?? `The service answered ${response.status}.`, {
    code: error.code,
    type: textOr(error.type, 'api_error') as string,
    status: response.status,
    requestId: response.headers.get('x-request-id') ?? textOr(error.request_id, null),
    param: textOr(error.param, null),
    errors: Array.isArray(error.errors) ? error.errors : [],
    details: isObject(error.details) ? error.details : {},
    retryAfter: retryAfterOf(response),
    idempotencyKey,
  })
}

/** Seconds, or null. The service gives seconds; a proxy in front of it may give a date. */
export function retryAfterOf({ headers }: Pick<Response, 'headers'>, nowMs = Date.now()): number | null {
  const text = headers.get('retry-after')?.trim()
  if (!text) return null
  if (/^\d+$/.test(text)) return Number(text)
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - nowMs) / 1000))
}

function errorIn(text: string): Record<string, unknown> | null {
  try {
    const body: unknown = JSON.parse(text)
    return isObject(body) && isObject(body.error) ? body.error : null
  } catch {
    return null
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOr<Other>(value: unknown, other: Other): string | Other {
  return typeof value === 'string' ? value : other
}
