import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type FastifyInstance, fastify } from 'fastify'
import { newUuid, withPrefix } from '../lib/ids.ts'
import type { BodySource } from './bodies.ts'
import { missingHost, notHttp } from './errors.ts'
import { rejectInvalidHttp } from './invalid-http.ts'
import { hasBody } from './json-body.ts'
import { errorOf, lacksHost, routableUrl, sendError } from './lifecycle.ts'
import type { Connections } from './limits/connections.ts'
import type { PipelineDeps } from './pipeline.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whose body the route reads; `client` by default. */
    bodySource?: (request: IncomingMessage) => BodySource
  }
}

export interface HttpServerDeps extends PipelineDeps {
  connections: Connections
}

const newRequestId = () => withPrefix('req', newUuid())

/** The HTTP server. Errors that occur before a request reaches a route have the same shape as all others. */
export function newHttpServer(deps: HttpServerDeps): FastifyInstance {
  const { bodies, connections, timeouts } = deps
  const app = fastify({
    logger: false,
    requestIdHeader: false,
    genReqId: newRequestId,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 1000 },
    // Otherwise Fastify loads its own compilers of schemas, which no route uses: `validate.ts` and `to-json.ts` do it.
    schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
    http: {
      // Two Authorization headers are joined into one invalid value, instead of one of them being used.
      joinDuplicateHeaders: true,
      maxHeaderSize: 16 * 1024,
      headersTimeout: timeouts.headersMs,
      connectionsCheckingInterval: timeouts.checkMs,
      // Node's response to a request without a Host header has a different shape.
      requireHostHeader: false,
    },
    keepAliveTimeout: timeouts.keepAliveMs,
    requestTimeout: timeouts.requestMs,
    connectionTimeout: timeouts.stalledMs,
    rewriteUrl: ({ url = '/' }) => routableUrl(url),
    clientErrorHandler: (error, socket) => void rejectInvalidHttp(error, socket, newRequestId(), deps),
  })
  connections.watch(app.server)
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request
    // A health check costs nothing, and must not fail because of other clients.
    if (raw.url !== '/healthz') connections.begin(raw, reply.raw)
    if (hasBody(raw)) bodies.startEarly(raw, reply.raw, request.routeOptions.config.bodySource?.(raw) ?? 'client')
    // Fastify refuses an empty one, even of a request without a body.
    if (raw.headers['content-type'] === '') delete raw.headers['content-type']
    // The API checks the key first, and records the request.
    if (!('exchange' in request) && lacksHost(raw)) throw missingHost()
    done()
  })
  // Not on the response's `close` event: the response may have to wait for earlier ones on the connection.
  app.addHook('onSend', (request, reply, payload, done) => {
    reply.header('X-Request-Id', request.id)
    bodies.release(request.raw)
    connections.worked(reply.raw)
    done(null, payload)
  })
  app.setErrorHandler((error, request, reply) => sendError(errorOf(error, request, deps), request, reply))
  // Fastify does not read bodies: handlers do it themselves.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  // By default Node responds to these two itself: an unknown Expect header, and CONNECT.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    void rejectInvalidHttp(notHttp('CONNECT'), socket, newRequestId(), deps)
  })
  return app
}

function refuseSchema(): never {
  throw new Error('a route of Fastify must not have a schema')
}
