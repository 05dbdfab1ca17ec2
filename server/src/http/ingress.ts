import type { FastifyInstance } from 'fastify'
import type { Logger } from '../lib/logger.ts'
import { Refusal } from '../lib/refuse.ts'
import { errorReply, toRefusal } from './answer.ts'
import { readBody } from './body.ts'
import type { Patience } from './patience.ts'

export interface IngressOptions {
  publicUrl: string
  log: Logger
  patience: Patience
  greet(appId: string, queryString: string): Promise<string | null>
  receive(appId: string, body: Buffer, signature: string | string[] | undefined): Promise<void>
}

/** The network's webhooks have up to 3 MB; a little more is let through than it promises. */
const bodyMax = 4 * 1024 * 1024

/** Where the network posts: the bytes of the body are handed on untouched, for they are what was signed. */
export async function mountIngress(app: FastifyInstance, options: IngressOptions): Promise<void> {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request: { raw: Parameters<typeof readBody>[0] }) =>
    readBody(request.raw, bodyMax, options.patience.bodyMs),
  )
  app.setErrorHandler((error, request, reply) => {
    const { refusal, bug } = toRefusal(error)
    if (bug) options.log.error({ err: error, requestId: request.id }, 'a webhook of the network failed')
    return reply.code(refusal.status).send(errorReply(refusal, request.id, options.publicUrl))
  })
  app.get<{ Params: { appId: string } }>('/whatsapp/:appId', async (request, reply) => {
    const challenge = await options.greet(request.params.appId, request.url.split('?')[1] ?? '')
    if (challenge === null) return reply.code(403).type('text/plain; charset=utf-8').send('The verify token is wrong.')
    return reply.type('text/plain; charset=utf-8').header('X-Content-Type-Options', 'nosniff').send(challenge)
  })
  app.post<{ Params: { appId: string } }>('/whatsapp/:appId', async (request, reply) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    await options.receive(request.params.appId, body, request.headers['x-hub-signature-256'])
    return reply.code(200).send()
  })
  app.setNotFoundHandler(() => {
    throw new Refusal('not_found')
  })
}
