/** The adapter for Express, Connect and Node's `http.createServer`. */
import { type NodeBody, readNodeBody } from './node-body.ts'
import { type EventHandler, newReceiver, type ReceiveOptions } from './receive.ts'
import { WebhookVerificationError } from './verify.ts'

export type { EventHandler, ReceiveOptions } from './receive.ts'
export { newSeenEvents, type SeenEvents } from './seen.ts'
export type { ParleyEvent } from './verify.ts'

/** The properties of a request that are used. Declared here, so that no framework has to be installed. */
export interface NodeRequest extends NodeBody {
  headers: { readonly [name: string]: string | string[] | undefined }
  /** Set if a body parser ran before. */
  body?: unknown
  /** Where some platforms and `verify` functions store the raw bytes. */
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
 * Register it before `express.json()`, or add `express.raw({ type: 'application/json' })` to the route in front of it.
 */
export function parleyWebhook(
  secret: string | readonly string[],
  handler: EventHandler,
  options: ReceiveOptions = {},
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  const { maxBytes, receive } = newReceiver(secret, handler, options)
  return async (request, response) => {
    const { status, body } = await receive(request.headers, () => rawBodyOf(request, maxBytes))
    // The rest of a body that is too large may still be arriving, so the connection cannot be reused.
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
    'The body was parsed before it could be verified, most likely by express.json(). Register this route before express.json(), or add express.raw({ type: "application/json" }) to the route.',
  )
}
