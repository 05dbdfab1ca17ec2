import { type AnyErrorCode, everyError } from '@parley/contract/console/errors'
import type { ErrorReply } from '@parley/contract/error-reply'
import { errorCatalogue } from '@parley/contract/errors'
import { isDatabaseUnavailable } from '../db/connect/is-unavailable.ts'
import { isDiskError } from '../lib/disk.ts'
import { invalid, Refusal } from '../lib/refuse.ts'
import type { Logger } from '../telemetry/logger.ts'

export interface FailedRequest {
  requestId: string
  route: string
  publicUrl: string
  log: Logger
}

export interface ErrorResponse {
  status: number
  code: AnyErrorCode
  headers: Readonly<Record<string, string>>
  /** JSON. */
  body: string
}

export const jsonType = 'application/json; charset=utf-8'

export function errorBody({ code, message, parts }: Refusal, requestId: string, publicUrl: string): ErrorReply {
  const { param, errors, details } = parts
  return {
    error: {
      // Under /v1 only codes of the public catalogue are thrown. The console's own codes have the same shape.
      type: everyError[code].type as ErrorReply['error']['type'],
      code: code as ErrorReply['error']['code'],
      message,
      request_id: requestId,
      doc_url: `${publicUrl}/docs/errors#${Object.hasOwn(errorCatalogue, code) ? code : 'console-errors'}`,
      // Fields that do not apply are absent.
      ...(param !== undefined && { param }),
      ...(errors !== undefined && { errors }),
      ...(details !== undefined && { details }),
    },
  }
}

/**
 * The response to an error that was thrown while a request was handled: on /v1, in the console, on the webhook ingress,
 * on pages and metrics, and for bytes that are not HTTP. Internal errors are logged here, once.
 */
export function errorResponse(error: unknown, { requestId, route, publicUrl, log }: FailedRequest): ErrorResponse {
  const refusal = toRefusal(error)
  const { code, status, parts } = refusal
  // A full disk fails every request that writes. The database logs it.
  if (refusal !== error && status === 503 && !isDiskError(error)) {
    log.warn(
      { event: 'http.database_unavailable', err: error, request_id: requestId, route },
      'the database is unavailable',
    )
  } else if (refusal !== error && status === 500) {
    log.error(
      { event: 'http.request_failed', err: error, request_id: requestId, route },
      'a request failed unexpectedly',
    )
  }
  const retry = code === 'service_unavailable' && { 'Retry-After': '1' }
  return {
    status,
    code,
    headers: { ...retry, ...parts.headers },
    body: JSON.stringify(errorBody(refusal, requestId, publicUrl)),
  }
}

export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  const code = String((error as { code?: unknown } | undefined)?.code)
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return requestTimedOut()
  if (code === 'HPE_HEADER_OVERFLOW' || code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    const parts = code === 'HPE_HEADER_OVERFLOW' ? { message: 'The headers are larger than 16 KiB.' } : {}
    return new Refusal('payload_too_large', parts)
  }
  if (code.startsWith('HPE_')) return notHttp(code)
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new Refusal('unsupported_media_type')
  if (code === 'FST_ERR_BAD_URL') return malformedUrl()
  return new Refusal(isDatabaseUnavailable(error) ? 'service_unavailable' : 'internal_error')
}

/** For a request that arrives too slowly, or whose client disconnected. */
export const requestTimedOut = (): Refusal => new Refusal('request_timeout', { headers: { Connection: 'close' } })

export const malformedUrl = (): Refusal =>
  invalid([{ param: 'url', code: 'invalid', message: 'Invalid URL: the percent-encoding is malformed.' }])

export const missingHost = (): Refusal =>
  invalid([{ param: 'host', code: 'missing', message: 'The Host header is missing.' }])

export function notHttp(reason: string): Refusal {
  const message = `Invalid HTTP request (${reason}).`
  const { parts } = invalid([{ param: 'request', code: 'invalid', message }])
  return new Refusal('validation_failed', { ...parts, headers: { Connection: 'close' } })
}
