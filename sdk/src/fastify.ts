/** The adapter for Fastify. */
import { type NodeBody, readNodeBody } from './node-body.ts'
import { type EventHandler, newReceiver, type ReceiveOptions } from './receive.ts'
import type { WebhookHeaders } from './verify.ts'

export type { EventHandler, ReceiveOptions } from './receive.ts'
export { newSeenEvents, type SeenEvents } from './seen.ts'
export type { ParleyEvent } from './verify.ts'

/** The parts of Fastify that are used. Declared here, so that Fastify does not have to be installed. */
export interface FastifyApp {
  removeAllContentTypeParsers(): void
  addContentTypeParser(type: string, parser: (request: unknown, payload: NodeBody) => Promise<unknown>): unknown
  post(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown
}

interface FastifyRequest {
  headers: { readonly [name: string]: string | string[] | undefined }
  body: unknown
}

interface FastifyReply {
  code(status: number): unknown
  header(name: string, value: string): unknown
  send(body?: unknown): unknown
}

/**
 * `app.register(parleyWebhook(secret, async (event) => { … }), { prefix: '/hooks/parley' })`
 *
 * A plugin: it reads the raw body on its own route only; other routes parse their bodies as before.
 */
export function parleyWebhook(
  secret: string | readonly string[],
  handler: EventHandler,
  options: ReceiveOptions = {},
): (app: FastifyApp) => Promise<void> {
  const { maxBytes, receive } = newReceiver(secret, handler, options)
  return async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', async (_request, payload) => {
      const bytes = readNodeBody(payload, maxBytes)
      // An error is reported when the route reads the bytes, so that it is the same in all frameworks.
      await bytes.catch(() => {})
      return () => bytes
    })
    app.post('/', async ({ headers, body }, reply) => {
      const readBody = typeof body === 'function' ? () => body() : () => new Uint8Array()
      const response = await receive(headers as WebhookHeaders, readBody)
      reply.code(response.status)
      if (response.body !== null) reply.header('content-type', 'application/json')
      return reply.send(response.body ?? undefined)
    })
  }
}
