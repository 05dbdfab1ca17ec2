import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { refuse } from '../lib/refuse.ts'
import type { Logger } from '../telemetry/logger.ts'
import { type ErrorResponse, errorResponse, jsonType } from './errors.ts'

/** The steps that the API, the console and the ingress share. */

/** A path that cannot be decoded is routed as it is written. */
export const routableUrl = (url: string): string => (isDecodable(url) ? url : url.replaceAll('%', '%25'))

function isDecodable(url: string): boolean {
  if (!url.includes('%')) return true
  try {
    decodeURIComponent(url.split('?', 1)[0] as string)
    return true
  } catch {
    return false
  }
}

/** Whether the percent-encoding of the path is malformed. */
export const isMalformed = ({ url, originalUrl }: FastifyRequest): boolean => url !== originalUrl

/** Whether the Host header is missing, which only HTTP/1.0 allows. */
export const lacksHost = ({ headers, httpVersion }: IncomingMessage): boolean =>
  headers.host === undefined && httpVersion === '1.1'

export interface SchemaState {
  /** False if the version of this process is too old for the schema of its database. */
  hasUsableSchema(): boolean
}

/** For routes that need the database, of a process whose version is too old for it: another one can respond. */
export function requireUsableSchema({ hasUsableSchema }: SchemaState): void {
  // The log and /readyz have the reason.
  const message = 'This process is of an older version than the database. Try again.'
  if (!hasUsableSchema()) refuse('service_unavailable', { message })
}

export function errorOf(
  error: unknown,
  { id: requestId, routeOptions }: FastifyRequest,
  { publicUrl, log }: { publicUrl: string; log: Logger },
): ErrorResponse {
  return errorResponse(error, { requestId, route: routeOptions.url ?? '(no route)', publicUrl, log })
}

/** Node reads and discards an unread body, to reuse the connection. It is closed instead if the body is larger than this. */
const maxDiscardedBytes = 10_000_000

export function sendError({ status, headers, body }: ErrorResponse, { raw }: FastifyRequest, reply: FastifyReply) {
  if (Number(raw.headers['content-length'] ?? 0) > maxDiscardedBytes) reply.raw.shouldKeepAlive = false
  return reply.code(status).headers(headers).type(jsonType).send(body)
}
