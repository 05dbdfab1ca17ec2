import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { withoutPrefix } from '../lib/ids.ts'
import { peerAddress } from './client-address.ts'
import { errorResponse, jsonType, toRefusal } from './errors.ts'
import type { Connections } from './limits/connections.ts'
import { commonHeaders, notCharged, type PipelineDeps } from './pipeline.ts'

/** Internal state of Node's HTTP server: the request being parsed, and the response being written. */
type HttpSocket = Socket & {
  parser?: { incoming?: IncomingMessage | null } | null
  _httpMessage?: ServerResponse | null
}

const responded = new WeakSet<Socket>()
const lingerMs = 500

/**
 * Handles bytes that are not an HTTP request, and requests that arrive too slowly. Node provides only the connection,
 * not a request. Earlier requests on the connection get their responses first; then the error is sent and the
 * connection closed.
 */
export async function rejectInvalidHttp(
  error: Error,
  socket: HttpSocket,
  requestId: string,
  deps: PipelineDeps & { connections: Connections },
): Promise<void> {
  // Node calls this again for anything else that the connection sends.
  if (responded.has(socket)) return
  const refusal = toRefusal(error)
  const incoming = socket.parser?.incoming
  // A file has its own time limits.
  if (refusal.code === 'request_timeout' && incoming && deps.bodies.isStreamed(incoming)) return
  responded.add(socket)
  // Node also reports broken connections here, with a system error instead of a parser error.
  if (!socket.writable || refusal.status >= 500) {
    socket.destroy()
    return
  }
  const at = deps.clock.now()
  if (incoming && !incoming.complete) {
    // The error is in the body of a known request. Its handler responds with the error if it reads the body, and
    // without it otherwise.
    deps.bodies.fail(incoming, refusal)
    await pendingResponses(socket)
    socket.destroySoon()
    return
  }
  await pendingResponses(socket)
  if (!socket.writable) return
  const address = peerAddress(socket)
  const done = deps.connections.beginInvalid(socket)
  if (!done) {
    socket.destroy()
    return
  }
  const access = await deps.admit({ authorization: undefined, address, isPublic: true }).catch(() => undefined)
  done()
  const final = access?.kind === 'refused' ? access.refusal : refusal
  const { status, code, headers, body } = errorResponse(final, { requestId, route: '?', ...deps })
  const common = { 'x-request-id': requestId, ...commonHeaders(access?.rateLimit ?? notCharged) }
  close(socket, status, { ...common, ...headers, Connection: 'close' }, body)
  deps.record({
    id: withoutPrefix('req', requestId) as string,
    at,
    caller: null,
    method: '?',
    route: '?',
    status,
    code,
    durationUs: Math.max(0, deps.clock.now().getTime() - at.getTime()) * 1000,
    address,
    userAgent: null,
  })
}

async function pendingResponses(socket: HttpSocket): Promise<void> {
  let last: ServerResponse | undefined
  for (let response = socket._httpMessage; response && response !== last; response = socket._httpMessage) {
    last = response
    await new Promise((resolve) => last?.once('close', resolve))
  }
}

/**
 * Keeps reading and discarding for `lingerMs`: closing while data still arrives would reset the connection, and the
 * client could lose the response.
 */
function close(socket: Socket, status: number, headers: Record<string, string>, body: string): void {
  const all = { ...headers, 'content-type': jsonType, 'content-length': Buffer.byteLength(body) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer)).once('end', () => socket.destroySoon())
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}
