import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { type FastifyInstance, fastify } from 'fastify'
import { newUuid, withPrefix } from '../lib/ids.ts'
import type { Bodies } from './bodies.ts'
import type { ClientTimeouts } from './client-timeouts.ts'
import { errorResponse, jsonType, notHttp } from './errors.ts'
import { isForIngress } from './ingress.ts'
import { rejectInvalidHttp } from './invalid-http.ts'
import type { Pipeline, PipelineDeps } from './pipeline.ts'
import { hasValidTarget, isUnderV1 } from './url.ts'

const newRequestId = () => withPrefix('req', newUuid())

/**
 * The HTTP server. Requests under /v1 go to their own pipeline, WhatsApp's webhooks to the ingress, everything else to
 * Fastify. Errors that occur before a request reaches a route have the same shape as all others.
 */
export function newHttpServer(v1: Pipeline, network: RequestListener, deps: PipelineDeps): FastifyInstance {
  const app = fastify({
    logger: false,
    requestIdHeader: false,
    genReqId: newRequestId,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 1000 },
    serverFactory: (others) => newServer(v1, network, others, deps),
    // An invalid URL matches no route.
    rewriteUrl: (request) => (hasValidTarget(request) ? (request.url ?? '/') : '/unreadable'),
    clientErrorHandler: (error, socket) => void rejectInvalidHttp(error, socket, newRequestId(), deps),
  })
  // For everything that Fastify serves: the console, pages and metrics.
  app.setErrorHandler((error, { id: requestId, routeOptions }, reply) => {
    const { status, headers, body } = errorResponse(error, { requestId, route: routeOptions.url ?? '?', ...deps })
    return reply
      .code(status)
      .headers({ ...headers, 'X-Request-Id': requestId })
      .type(jsonType)
      .serializer(String)
      .send(body)
  })
  // Fastify does not read bodies: the console's handlers do it themselves, and no other route has one.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  // By default Node responds to these two itself: an unknown Expect header, and CONNECT.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    void rejectInvalidHttp(notHttp('CONNECT'), socket, newRequestId(), deps)
  })
  return app
}

type ServerDeps = { timeouts: ClientTimeouts; bodies: Bodies }

function newServer(v1: Pipeline, network: RequestListener, others: RequestListener, deps: ServerDeps): Server {
  const { timeouts, bodies } = deps
  const options = {
    // Two Authorization headers are joined into one invalid value, instead of one of them being used.
    joinDuplicateHeaders: true,
    maxHeaderSize: 16 * 1024,
    keepAliveTimeout: 75_000,
    requestTimeout: timeouts.requestMs,
    headersTimeout: timeouts.headersMs,
    connectionsCheckingInterval: timeouts.checkMs,
    // Node's response to a request without a Host header has a different shape; the pipeline checks it instead.
    requireHostHeader: false,
  }
  const server = createServer(options, (request, response) => {
    const isApi = isUnderV1(request)
    const isNetwork = !isApi && isForIngress(request)
    bodies.startEarly(request, response, isNetwork ? 'network' : 'client')
    if (!isApi && !isNetwork) return others(request, response)
    // During shutdown, the connection is closed after the current response.
    if (!server.listening) response.shouldKeepAlive = false
    if (isApi) v1(request, response)
    else network(request, response)
  })
  return server
}
