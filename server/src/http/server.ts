import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { type FastifyInstance, fastify } from 'fastify'
import { newUuid, withPrefix } from '../lib/ids.ts'
import type { Bodies } from './bodies.ts'
import type { ClientTimeouts } from './client-timeouts.ts'
import { errorResponse, jsonType, notHttp } from './errors.ts'
import { isForIngress } from './ingress.ts'
import type { Pipeline, PipelineDeps } from './pipeline.ts'
import { rejectUnreadable } from './unreadable.ts'
import { isReadable, isUnderV1 } from './url.ts'

const newRequestId = () => withPrefix('req', newUuid())

/**
 * The http server, with what can go wrong before a request reaches any route answered in the same shape. What is under
 * /v1 goes straight to its pipeline, what the network posts to its door, everything else to Fastify.
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
    // A URL that cannot be read leads nowhere.
    rewriteUrl: (request) => (isReadable(request) ? (request.url ?? '/') : '/unreadable'),
    clientErrorHandler: (error, socket) => void rejectUnreadable(error, socket, newRequestId(), deps),
  })
  // For all that Fastify serves: the console, pages and metrics.
  app.setErrorHandler((error, { id: requestId, routeOptions }, reply) => {
    const { status, headers, body } = errorResponse(error, { requestId, route: routeOptions.url ?? '?', ...deps })
    return reply
      .code(status)
      .headers({ ...headers, 'X-Request-Id': requestId })
      .type(jsonType)
      .serializer(String)
      .send(body)
  })
  // Fastify reads no body: the console's handlers do it themselves, and no other route has one.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  // Node would answer these two by itself as well: an expectation it does not know, and a tunnel.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    void rejectUnreadable(notHttp('CONNECT'), socket, newRequestId(), deps)
  })
  return app
}

type ServerDeps = { timeouts: ClientTimeouts; bodies: Bodies }

function newServer(v1: Pipeline, network: RequestListener, others: RequestListener, deps: ServerDeps): Server {
  const { timeouts, bodies } = deps
  const options = {
    // Two Authorization headers become one that is not a key, instead of one of them winning.
    joinDuplicateHeaders: true,
    maxHeaderSize: 16 * 1024,
    keepAliveTimeout: 75_000,
    requestTimeout: timeouts.requestMs,
    headersTimeout: timeouts.headersMs,
    connectionsCheckingInterval: timeouts.checkMs,
    // Node would answer a request without a host in a shape of its own; the pipeline does it in ours.
    requireHostHeader: false,
  }
  const server = createServer(options, (request, response) => {
    const isOurs = isUnderV1(request)
    const isNetwork = !isOurs && isForIngress(request)
    bodies.expect(request, response, isNetwork ? 'network' : 'client')
    if (!isOurs && !isNetwork) return others(request, response)
    // While we stop, a connection ends with the answer that is under way on it.
    if (!server.listening) response.shouldKeepAlive = false
    if (isOurs) v1(request, response)
    else network(request, response)
  })
  return server
}
