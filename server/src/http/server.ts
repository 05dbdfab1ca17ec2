import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type FastifyInstance, fastify } from 'fastify'
import { addressBlock } from '../lib/addresses.ts'
import { newUuid, withPrefix } from '../lib/ids.ts'
import { Refusal } from '../lib/refuse.ts'
import type { Connections } from './connections.ts'
import { errorResponse, jsonType, notHttp } from './errors.ts'
import { isForIngress } from './ingress.ts'
import { rejectInvalidHttp } from './invalid-http.ts'
import type { NetworkSenders } from './network-senders.ts'
import type { Pipeline, PipelineDeps } from './pipeline.ts'
import { commonHeaders, notCharged } from './reply.ts'
import { hasValidTarget, isForApi } from './url.ts'

const newRequestId = () => withPrefix('req', newUuid())

/**
 * The HTTP server. Requests under /v1 and to /mcp go to their own pipeline, WhatsApp's webhooks to the ingress, everything else to
 * Fastify. Errors that occur before a request reaches a route have the same shape as all others.
 */
export function newHttpServer(v1: Pipeline, network: Pipeline, deps: HttpServerDeps): FastifyInstance {
  const app = fastify({
    logger: false,
    requestIdHeader: false,
    genReqId: newRequestId,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 1000 },
    // Otherwise Fastify loads its own compilers of schemas, which no route uses: `validate.ts` and `to-json.ts` do it.
    schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
    serverFactory: (others) => newServer(v1, network, others, deps),
    // An invalid URL matches no route.
    rewriteUrl: (request) => (hasValidTarget(request) ? (request.url ?? '/') : '/unreadable'),
    clientErrorHandler: (error, socket) => void rejectInvalidHttp(error, socket, newRequestId(), deps),
  })
  // For everything that Fastify serves: the console, pages and metrics.
  app.setErrorHandler((error, { id: requestId, routeOptions }, reply) => {
    const { status, headers, body } = errorResponse(error, { requestId, route: routeOptions.url ?? '?', ...deps })
    return reply.code(status).headers(headers).type(jsonType).serializer(String).send(body)
  })
  // Fastify does not read bodies: the console's handlers do it themselves, and no other route has one.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  // Not on the response's `close` event: the response may have to wait for earlier ones on the connection.
  app.addHook('onSend', (request, reply, payload, done) => {
    reply.header('X-Request-Id', request.id)
    deps.bodies.releaseUnclaimed(request.raw)
    done(null, payload)
  })
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

export interface HttpServerDeps extends PipelineDeps {
  connections: Connections
  senders: NetworkSenders
  addressOf(request: IncomingMessage): string
  /** Whether the request may upload a file, which is read in pieces. */
  receivesFile(request: IncomingMessage): boolean
}

function newServer(v1: Pipeline, network: Pipeline, others: RequestListener, deps: HttpServerDeps): Server {
  const { timeouts, bodies, connections, senders, addressOf, receivesFile } = deps
  const networkSourceOf = (request: IncomingMessage) => senders.bodySourceOf(addressBlock(addressOf(request)))
  const options = {
    // Two Authorization headers are joined into one invalid value, instead of one of them being used.
    joinDuplicateHeaders: true,
    maxHeaderSize: 16 * 1024,
    keepAliveTimeout: timeouts.keepAliveMs,
    requestTimeout: timeouts.requestMs,
    headersTimeout: timeouts.headersMs,
    connectionsCheckingInterval: timeouts.checkMs,
    // Node's response to a request without a Host header has a different shape; the pipeline checks it instead.
    requireHostHeader: false,
  }
  const server = createServer(options, (request, response) => {
    const isApi = isForApi(request)
    const isNetwork = !isApi && isForIngress(request)
    // A health check costs nothing, and must not fail because of other clients.
    const counted = request.url === '/healthz' ? null : connections.begin(request, response)
    if (counted === 'cut') return
    if (counted instanceof Refusal) return sendRefusal(request, response, counted, isApi, deps)
    if (deps.db.process.unusableSchema && (isApi || isNetwork || request.url?.startsWith('/console/api/'))) {
      counted?.worked()
      return sendRefusal(request, response, newerSchema(), isApi, deps)
    }
    const clientSource = isApi && receivesFile(request) ? 'upload' : 'client'
    bodies.startEarly(request, response, isNetwork ? networkSourceOf(request) : clientSource)
    if (!isApi && !isNetwork) {
      counted?.worked()
      return others(request, response)
    }
    // During shutdown, the connection is closed after the current response.
    if (!server.listening) response.shouldKeepAlive = false
    const work = isApi ? v1(request, response) : network(request, response)
    if (counted) void work.then(counted.worked)
  })
  server.timeout = timeouts.stalledMs
  connections.watch(server)
  return server
}

/** Another process can handle the request, if it is sent again. The log and /readyz have the reason. */
const newerSchema = (): Refusal =>
  new Refusal('service_unavailable', { message: 'This process is of an older version than the database. Try again.' })

/** The response to a request that is not handled. It is not in the request log: a flood would fill it. */
function sendRefusal(
  { headers: requestHeaders }: IncomingMessage,
  response: ServerResponse,
  refusal: Refusal,
  isApi: boolean,
  { publicUrl, log }: HttpServerDeps,
): void {
  const requestId = newRequestId()
  const { status, headers, body } = errorResponse(refusal, { requestId, route: '?', publicUrl, log })
  // Close the connection instead of reading the body.
  const hasBody = requestHeaders['content-length'] !== undefined || requestHeaders['transfer-encoding'] !== undefined
  if (hasBody) response.shouldKeepAlive = false
  const all = isApi ? commonHeaders(requestId, notCharged) : ['x-request-id', requestId]
  all.push(...Object.entries(headers).flat(), 'content-type', jsonType)
  all.push('content-length', String(Buffer.byteLength(body)))
  response.writeHead(status, all).end(body)
}
