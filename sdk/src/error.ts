import type { ErrorCode, ErrorType, FieldError } from './contract.ts'

/**
 * Error codes of the client itself. `connection_failed`: there was no response. `timeout`: there was no response in time.
 * `unexpected_response`: the response is not from Parley, so `baseUrl` is probably wrong.
 */
export type ClientFault = 'connection_failed' | 'timeout' | 'unexpected_response'

/** More codes may be added; `string & {}` keeps the known ones in the editor's suggestions. */
export type ParleyErrorCode = ErrorCode | ClientFault | (string & {})

/** A request that failed. Check `code` to find out why. */
export class ParleyError extends Error {
  override readonly name: string = 'ParleyError'
  /** Stable, unlike the message. */
  readonly code: ParleyErrorCode
  readonly type: ErrorType | 'client_error' | (string & {})
  /** The HTTP status; 0 if there was no response. */
  readonly status: number
  /** Identifies the request in the request log. */
  readonly requestId: string | null
  /** The first invalid parameter. */
  readonly param: string | null
  /** All invalid parameters. */
  readonly errors: readonly FieldError[]
  readonly details: Readonly<Record<string, unknown>>
  /** How many seconds to wait before the next request, from `Retry-After`. */
  readonly retryAfter: number | null
  /** The idempotency key of a failed `send` or `sendBatch`. Pass it to the same call to retry without sending twice. */
  readonly idempotencyKey: string | null

  constructor(message: string, fields: ErrorFields) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
    this.type = fields.type ?? 'client_error'
    this.status = fields.status ?? 0
    this.requestId = fields.requestId ?? null
    this.param = fields.param ?? null
    this.errors = fields.errors ?? []
    this.details = fields.details ?? {}
    this.retryAfter = fields.retryAfter ?? null
    this.idempotencyKey = fields.idempotencyKey ?? null
  }
}

/**
 * Events that follow the cursor were deleted, because they are older than the retention: they can no longer be read. To
 * continue with the oldest event that is stored, store `oldestCursor` and read again.
 */
export class CursorExpiredError extends ParleyError {
  override readonly name = 'CursorExpiredError'
  /** Null if the service did not send it. */
  readonly oldestCursor: string | null

  constructor(message: string, fields: ErrorFields) {
    super(message, fields)
    this.oldestCursor = textOr(this.details.oldest_cursor, null)
  }
}

interface ErrorFields {
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

/** The error in a response; null if the response is not from Parley. */
export function errorOfResponse(response: Response, text: string, idempotencyKey: string | null): ParleyError | null {
  const error = errorIn(text)
  if (!error || typeof error.code !== 'string') return null
  const ErrorClass = error.code === 'cursor_expired' ? CursorExpiredError : ParleyError
  return new ErrorClass(textOr(error.message, null) ?? `The request failed with status ${response.status}.`, {
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

/** In seconds, or null. Parley sends seconds; a proxy in front of it may send a date. */
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
