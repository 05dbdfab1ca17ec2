import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Refusal } from '../lib/refuse.ts'
import { addressBlock } from '../net/addresses.ts'
import type { Overload } from '../sharing/overload.ts'
import type { Bodies, BodySource } from './bodies.ts'
import { requireUsableSchema, type SchemaState } from './lifecycle.ts'
import type { ClientTimeouts } from './limits/limits.ts'
import type { NetworkSenders } from './limits/network-senders.ts'

export interface IngressOptions extends SchemaState {
  timeouts: ClientTimeouts
  bodies: Bodies
  senders: NetworkSenders
  overload: Overload
  addressOf(request: IncomingMessage): string
  verifyHandshake(appId: string, queryString: string): Promise<string | null>
  /** Rejects a webhook by its headers, before its body is read. Returns a promise only if it rejects it or needs the database. */
  screen(appId: string, signature: string | string[] | undefined): Promise<void> | undefined
  receive(appId: string, body: Buffer, signature: string | string[] | undefined): Promise<void>
  /** Called for a webhook of an app that exists, with a signature that is well-formed and wrong. */
  onWrongSignature(appId: string, address: string, userAgent: string | null): void
}

const prefix = '/network/whatsapp/'

export const isForIngress = ({ url = '' }: IncomingMessage): boolean => url.startsWith(prefix)

/** The endpoint for WhatsApp's webhooks. The body is passed on as raw bytes, because those are what is signed. */
export function mountIngress(app: FastifyInstance, options: IngressOptions): void {
  const { addressOf } = options
  const bodySource = (request: IncomingMessage) => sourceOf(options, addressBlock(addressOf(request)))
  app.register(async (scope) => {
    scope.addHook('onRequest', async () => requireUsableSchema(options))
    scope.addHook('onSend', (request, reply, payload, done) => {
      // Close the connection instead of waiting for the rest of the body.
      if (!request.raw.complete) reply.header('Connection', 'close')
      done(null, payload)
    })
    scope.post<Params>(`${prefix}:app`, { config: { bodySource } }, async ({ params, raw }, reply) => {
      await receiveWebhook(options, params.app, raw)
      return reply.send()
    })
    scope.get<Params>(`${prefix}:app`, async ({ params, url }, reply) => {
      const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : ''
      const challenge = await options.verifyHandshake(params.app, query)
      return reply
        .code(challenge === null ? 403 : 200)
        .type('text/plain; charset=utf-8')
        .header('X-Content-Type-Options', 'nosniff')
        .send(challenge ?? 'The verify token is wrong.')
    })
  })
}

interface Params {
  Params: { app: string }
}

async function receiveWebhook(options: IngressOptions, appId: string, request: IncomingMessage): Promise<void> {
  const { bodies, senders, timeouts } = options
  const signature = request.headers['x-hub-signature-256']
  const address = options.addressOf(request)
  const block = addressBlock(address)
  if (!senders.mayRead(appId, block, contentLengthOf(request))) {
    throw options.overload.refusal('invalid_signatures', address, { Connection: 'close' })
  }
  let size = 0
  try {
    const screened = options.screen(appId, signature)
    if (screened) await screened
    const body = await bodies.read(request, sourceOf(options, block), timeouts.bodyMs)
    size = body.length
    await options.receive(appId, body, signature)
    senders.addVerified(block)
  } catch (error) {
    // A refusal without a body has cost little.
    if (size > 0 && error instanceof Refusal && error.code === 'invalid_key') {
      senders.addWrong(appId, block, size)
      options.onWrongSignature(appId, address, request.headers['user-agent']?.slice(0, 200) ?? null)
    }
    throw error
  }
}

const sourceOf = ({ senders }: IngressOptions, block: string): BodySource =>
  senders.isKnown(block) ? 'known webhook' : 'webhook'

/** Infinite for a chunked body, whose length is unknown. */
function contentLengthOf({ headers }: IncomingMessage): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY
}
