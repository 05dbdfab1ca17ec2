import { everyError } from '@parley/contract/console/errors'
import type { ErrorReply } from '@parley/contract/errors'
import type { Budget } from '../lib/gate.ts'
import { invalid, Refusal } from '../lib/refuse.ts'

/** A refusal as the body of an answer. Members that do not apply are absent. */
export function errorReply(refusal: Refusal, requestId: string, publicUrl: string): ErrorReply {
  const { param, errors, details } = refusal.parts
  return {
    error: {
      // Under /v1 only codes of its catalogue are ever thrown; the console's own have the same shape.
      type: everyError[refusal.code].type as ErrorReply['error']['type'],
      code: refusal.code as ErrorReply['error']['code'],
      message: refusal.message,
      request_id: requestId,
      doc_url: `${publicUrl}/docs/errors#${refusal.code}`,
      ...(param === undefined ? {} : { param }),
      ...(errors === undefined ? {} : { errors }),
      ...(details === undefined ? {} : { details }),
    },
  }
}

/** Nothing was charged: the database could not be asked. */
export const uncharged: Budget = { limit: 600, remaining: 600, resetSeconds: 60 }

/** The headers that stand on every answer under /v1: names and values in turn, which Node writes without a detour. */
export function standingHeaders(requestId: string, budget: Budget): string[] {
  return [
    'x-request-id',
    requestId,
    'ratelimit-limit',
    String(budget.limit),
    'ratelimit-remaining',
    String(budget.remaining),
    'ratelimit-reset',
    String(budget.resetSeconds),
    'cache-control',
    'no-store',
    'x-content-type-options',
    'nosniff',
  ]
}

/** What went wrong, as a refusal; `bug` when it is our fault and has to be logged. */
export function toRefusal(error: unknown): { refusal: Refusal; bug: boolean } {
  if (error instanceof Refusal) return { refusal: error, bug: false }
  const { code = '', message = '' } = error as { code?: string; message?: string }
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return { refusal: new Refusal('unsupported_media_type'), bug: false }
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return { refusal: new Refusal('payload_too_large'), bug: false }
    case 'FST_ERR_BAD_URL':
      return { refusal: malformedUrl(), bug: false }
  }
  if (isDatabaseAway(code, message)) {
    return { refusal: new Refusal('service_unavailable', { headers: { 'Retry-After': '1' } }), bug: true }
  }
  return { refusal: new Refusal('internal_error'), bug: true }
}

export const malformedUrl = (): Refusal =>
  invalid([{ param: 'url', code: 'invalid', message: 'The URL is not valid: its percent-encoding is malformed.' }])

export const noHost = (): Refusal =>
  invalid([{ param: 'host', code: 'missing', message: 'The Host header is missing.' }])

/** The database is stopped, starting, out of reach or too slow: nothing that the request could have caused. */
function isDatabaseAway(code: string, message: string): boolean {
  return (
    /^(ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|08...|57P0.|57014|53300)$/.test(code) ||
    /Connection terminated|Query read timeout|timeout exceeded when trying to connect|pool after calling end/.test(
      message,
    )
  )
}
