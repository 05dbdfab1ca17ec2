import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type FastifyInstance, fastify } from 'fastify'
import { newUuid, withPrefix } from '../lib/ids.ts'
import { type PipelineDeps, unreadablePath } from './pipeline.ts'
import { answerUnreadable, notHttp } from './unreadable.ts'

const newRequestId = () => withPrefix('req', newUuid())

/** The http server, with what can go wrong before a request reaches any route answered in the same shape. */
export function newHttpServer(deps: PipelineDeps): FastifyInstance {
  const { patience } = deps
  const app = fastify({
    logger: false,
    requestIdHeader: false,
    genReqId: newRequestId,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    keepAliveTimeout: 75_000,
    requestTimeout: patience.requestMs,
    routerOptions: { maxParamLength: 1000 },
    http: {
      // Two Authorization headers become one that is not a key, instead of one of them winning.
      joinDuplicateHeaders: true,
      maxHeaderSize: 16 * 1024,
      headersTimeout: patience.headersMs,
      connectionsCheckingInterval: patience.checkMs,
      // Node would answer a request without a host in a shape of its own; the pipeline does it in ours.
      requireHostHeader: false,
    },
    rewriteUrl: (request) => (isReadable(request) ? (request.url ?? '/') : wayOut(request)),
    clientErrorHandler: (error, socket) => void answerUnreadable(error, socket, newRequestId(), deps),
  })
  // Node would answer these two by itself as well: an expectation it does not know, and a tunnel.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    void answerUnreadable(notHttp('CONNECT'), socket, newRequestId(), deps)
  })
  return app
}

function isReadable({ url = '/', headers, httpVersion }: IncomingMessage): boolean {
  if (headers.host === undefined && httpVersion === '1.1') return false
  if (!url.includes('%')) return true
  try {
    decodeURIComponent(url.split('?', 1)[0] as string)
    return true
  } catch {
    return false
  }
}

/** Under /v1 such a request passes the pipeline like any other; elsewhere it simply leads nowhere. */
const wayOut = ({ url = '/' }: IncomingMessage): string =>
  /^(https?:\/\/[^/]*)?\/v1([/?]|$)/i.test(url) ? unreadablePath : '/unreadable'
