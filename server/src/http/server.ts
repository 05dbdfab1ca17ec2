import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type FastifyInstance, fastify } from 'fastify'
import { newUuid, withPrefix } from '../lib/ids.ts'
import { Refusal } from '../lib/refuse.ts'
import { errorReply, standingHeaders } from './answer.ts'
import { peerAddress } from './client-address.ts'
import { type PipelineDeps, unreadablePath } from './pipeline.ts'

const newRequestId = () => withPrefix('req', newUuid())

/** The http server, with what can go wrong before a request reaches any route answered in the same shape. */
export function newHttpServer(deps: PipelineDeps): FastifyInstance {
  return fastify({
    logger: false,
    requestIdHeader: false,
    genReqId: newRequestId,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    keepAliveTimeout: 75_000,
    requestTimeout: 30_000,
    routerOptions: { maxParamLength: 1000 },
    http: {
      // Two Authorization headers become one that is not a key, instead of one of them winning.
      joinDuplicateHeaders: true,
      maxHeaderSize: 16 * 1024,
      headersTimeout: 15_000,
      connectionsCheckingInterval: 2_000,
    },
    rewriteUrl: ({ url = '/' }) => (isReadable(url) ? url : unreadablePath),
    clientErrorHandler: (error, socket) => void answerRaw(error, socket, deps),
  })
}

function isReadable(url: string): boolean {
  if (!url.includes('%')) return true
  try {
    decodeURIComponent(url.split('?', 1)[0] as string)
    return true
  } catch {
    return false
  }
}

/** Bytes that are not an HTTP request, or one that came too slowly: there is no request to answer, only a connection. */
async function answerRaw(error: NodeJS.ErrnoException, socket: Socket, deps: PipelineDeps): Promise<void> {
  const under = (socket as { _httpMessage?: ServerResponse })._httpMessage
  if (error.code === 'ECONNRESET' || !socket.writable || under?.headersSent) {
    socket.destroy()
    return
  }
  const refusal = refusalFor(error)
  const requestId = newRequestId()
  const at = deps.clock.now()
  const address = peerAddress(socket)
  try {
    const admission = await deps.admit({ authorization: undefined, address, public: true })
    const final = admission.kind === 'refused' ? admission.refusal : refusal
    const headers = { ...standingHeaders(requestId, admission.budget), ...final.parts.headers }
    const body = JSON.stringify(errorReply(final, requestId, deps.publicUrl))
    const lines = Object.entries({
      ...headers,
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': String(Buffer.byteLength(body)),
      Connection: 'close',
    }).map(([name, value]) => `${name}: ${value}\r\n`)
    if (socket.writable) socket.end(`HTTP/1.1 ${final.status} ${final.code}\r\n${lines.join('')}\r\n${body}`)
    deps.record({
      id: requestId.slice('req_'.length),
      at,
      caller: null,
      method: '?',
      route: '?',
      status: final.status,
      code: final.code,
      durationUs: Math.max(0, deps.clock.now().getTime() - at.getTime()) * 1000,
      address,
      userAgent: null,
    })
  } catch {
    socket.destroy()
  }
}

function refusalFor({ code = '' }: NodeJS.ErrnoException): Refusal {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Refusal('request_timeout')
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new Refusal('payload_too_large', { message: 'The headers are larger than 16 KiB.' })
  }
  const fault = { param: 'request', code: 'invalid', message: `This is not a valid HTTP request (${code}).` }
  return new Refusal('validation_failed', { message: fault.message, param: fault.param, errors: [fault] })
}
