/** Deliveries in Express, in Connect, and in Node's own `http.createServer`. */
import { type NodeBody, readNodeBody } from './node-body.ts'
import { type EventHandler, newReceiver, type ReceiveOptions } from './receive.ts'
import { WebhookVerificationError } from './verify.ts'

export type { EventHandler, ReceiveOptions } from './receive.ts'
export type { ParleyEvent } from './verify.ts'

/** Only what is used of a request, so that no framework has to be installed. */
export interface NodeRequest extends NodeBody {
  headers: { readonly [name: string]: string | string[] | undefined }
  /** Set if a parser ran before. */
  body?: unknown
  /** Where some platforms and `verify` functions keep the bytes. */
  rawBody?: unknown
  readableEnded?: boolean
}

export interface NodeResponse {
  writeHead(status: number, headers?: Record<string, string>): unknown
  end(body?: string): unknown
}

/**
 * `app.post('/hooks/parley', parleyWebhook(secret, async (event) => { … }))`
 *
 * Put it before `express.json()`, or `express.raw({ type: 'application/json' })` before it on this route.
 */
export function parleyWebhook(
  secret: string | readonly string[],
  handler: EventHandler,
  options: ReceiveOptions = {},
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  const { maxBytes, receive } = newReceiver(secret, handler, options)
  return async (request, response) => {
    const { status, body } = await receive(request.headers, () => rawBodyOf(request, maxBytes))
    // A body that was too large may still be coming; the connection is of no further use.
    const headers = { ...(body !== null && jsonHeaders), ...(status === 413 && { connection: 'close' }) }
    response.writeHead(status, headers)
    response.end(body ?? undefined)
  }
}

const jsonHeaders = { 'content-type': 'application/json' }

function rawBodyOf(request: NodeRequest, maxBytes: number): unknown {
  const { body, rawBody, readableEnded } = request
  if (rawBody !== undefined) return rawBody
  if (typeof body === 'string' || body instanceof Uint8Array) return body
  if (body === undefined && !readableEnded) return readNodeBody(request, maxBytes)
  throw new WebhookVerificationError(
    'body_not_raw',
    'Something read the body before, most likely express.json(), and the signature is over the bytes that are gone. Register this route before express.json(), or put express.raw({ type: "application/json" }) before it.',
  )
}
