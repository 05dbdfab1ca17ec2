import { type AnyErrorCode, everyError } from '@parley/contract/console/errors'
import type { ErrorReply } from '@parley/contract/errors'
import type { Logger } from '../lib/logger.ts'
import { invalid, Refusal } from '../lib/refuse.ts'

/** The request that failed, and where to log what was not the caller's fault. */
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

/**
 * The response to whatever was thrown while a request was handled: on /v1, in the console, on the network's ingress, on pages
 * and metrics, and for bytes that are not HTTP. What is our fault is logged here, once.
 */
export function errorResponse(error: unknown, { requestId, route, publicUrl, log }: FailedRequest): ErrorResponse {
  const refusal = toRefusal(error)
  const { code, status, message, parts } = refusal
  if (refusal !== error && status === 503) {
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
  const { param, errors, details } = parts
  const reply: ErrorReply = {
    error: {
      // Under /v1 only codes of its catalogue are thrown; those of the console alone have the same shape.
      type: everyError[code].type as ErrorReply['error']['type'],
      code: code as ErrorReply['error']['code'],
      message,
      request_id: requestId,
      doc_url: `${publicUrl}/docs/errors#${code}`,
      // Members that do not apply are absent.
      ...(param !== undefined && { param }),
      ...(errors !== undefined && { errors }),
      ...(details !== undefined && { details }),
    },
  }
  const retry = code === 'service_unavailable' && { 'Retry-After': '1' }
  return { status, code, headers: { ...retry, ...parts.headers }, body: JSON.stringify(reply) }
}

/** Every kind of error that is thrown while a request is handled. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  const { code: given, message = '' } = (error ?? {}) as { code?: unknown; message?: string }
  const code = String(given)
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return requestTimedOut()
  if (code === 'HPE_HEADER_OVERFLOW' || code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    const words = code === 'HPE_HEADER_OVERFLOW' ? { message: 'The headers are larger than 16 KiB.' } : {}
    return new Refusal('payload_too_large', words)
  }
  if (code.startsWith('HPE_')) return notHttp(code)
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new Refusal('unsupported_media_type')
  if (code === 'FST_ERR_BAD_URL') return malformedUrl()
  return new Refusal(isDatabaseUnavailable(code, message) ? 'service_unavailable' : 'internal_error')
}

/** A request that arrives too slowly is not waited for any longer. */
export const requestTimedOut = (): Refusal => new Refusal('request_timeout', { headers: { Connection: 'close' } })

export const malformedUrl = (): Refusal =>
  invalid([{ param: 'url', code: 'invalid', message: 'The URL is not valid: its percent-encoding is malformed.' }])

export const noHost = (): Refusal =>
  invalid([{ param: 'host', code: 'missing', message: 'The Host header is missing.' }])

export function notHttp(what: string): Refusal {
  const message = `This is not a valid HTTP request (${what}).`
  const { parts } = invalid([{ param: 'request', code: 'invalid', message }])
  return new Refusal('validation_failed', { ...parts, headers: { Connection: 'close' } })
}

/** The database is stopped, starting, out of reach or too slow: nothing that the request could have caused. */
function isDatabaseUnavailable(code: string, message: string): boolean {
  return (
    /^(ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|08...|57P0.|57014|53300)$/.test(code) ||
    /Connection terminated|Query read timeout|timeout exceeded when trying to connect|pool after calling end/.test(
      message,
    )
  )
}
