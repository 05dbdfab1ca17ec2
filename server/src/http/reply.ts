import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { RateLimitState } from '../lib/access-check.ts'
import type { BytesResponse } from './bytes.ts'
import { jsonType } from './errors.ts'

/** For responses whose request was not counted, because the database was unavailable. */
export const notCharged: RateLimitState = { limit: 600, remaining: 600, resetSeconds: 60 }

/** The headers of every response of the API. Names and values alternate, which is the fastest format for Node. */
export function commonHeaders(requestId: string, rateLimit: RateLimitState): string[] {
  return [
    'x-request-id',
    requestId,
    'ratelimit-limit',
    String(rateLimit.limit),
    'ratelimit-remaining',
    String(rateLimit.remaining),
    'ratelimit-reset',
    String(rateLimit.resetSeconds),
    'cache-control',
    'no-store',
    'x-content-type-options',
    'nosniff',
  ]
}

export function sendJson(response: ServerResponse, status: number, headers: string[], body: string): void {
  headers.push('content-type', jsonType, 'content-length', String(Buffer.byteLength(body)))
  response.writeHead(status, headers)
  response.end(body)
}

/** Streams the bytes at the speed at which the client reads them. HEAD sends none. */
export async function sendBytes(
  request: IncomingMessage,
  response: ServerResponse,
  headers: string[],
  { status, headers: bytesHeaders, open }: BytesResponse,
): Promise<void> {
  const bytes = Readable.from(request.method === 'HEAD' ? [] : open(), { objectMode: false })
  // Wait for the first bytes: an error before the headers are sent can still be reported, a later one closes the
  // connection.
  await once(bytes, 'readable')
  for (const [name, value] of Object.entries(bytesHeaders)) headers.push(name, value)
  response.writeHead(status, headers)
  await pipeline(bytes, response).catch(() => {})
}

/** Closes the connection of a client that is still sending its body after this time. */
export function closeLater(request: IncomingMessage, ms: number): void {
  const { complete, socket } = request
  if (complete) return
  const timer = setTimeout(() => request.complete || socket.destroy(), ms)
  timer.unref()
  socket.once('close', () => clearTimeout(timer))
}
