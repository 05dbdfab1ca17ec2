import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { GrowingBuffer } from './growing-buffer.ts'

/** Reads the raw body, up to the limit of the route. Fastify's own parser would keep a Buffer for every chunk. */
export async function readRawBody(request: FastifyRequest, payload: IncomingMessage): Promise<Buffer> {
  const maxBytes = request.routeOptions.bodyLimit
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw new BodyTooLarge()
  const body = new GrowingBuffer()
  // Destroying the stream would also close the connection, and the 413 response would not arrive.
  for await (const chunk of payload.iterator({ destroyOnReturn: false })) {
    if (body.size + chunk.length > maxBytes) throw new BodyTooLarge()
    body.append(chunk)
  }
  return body.bytes
}

class BodyTooLarge extends Error {
  readonly statusCode = 413

  constructor() {
    super('Request body is too large')
  }
}
