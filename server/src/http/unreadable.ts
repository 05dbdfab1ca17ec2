import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { withoutPrefix } from '../lib/ids.ts'
import { peerAddress } from './client-address.ts'
import { errorResponse, jsonType, toRefusal } from './errors.ts'
import { commonHeaders, notCharged, type PipelineDeps } from './pipeline.ts'

/** What Node keeps on a connection: the request it is parsing, and the answer being written. */
type HttpSocket = Socket & {
  parser?: { incoming?: IncomingMessage | null } | null
  _httpMessage?: ServerResponse | null
}

const responded = new WeakSet<Socket>()
const lingerMs = 500

/**
 * Bytes that are not an HTTP request, or one that came too slowly: there is no request to answer, only a connection. What
 * came before on the same connection is answered first, and the connection is closed.
 */
export async function rejectUnreadable(
  error: Error,
  socket: HttpSocket,
  requestId: string,
  deps: PipelineDeps,
): Promise<void> {
  // Whatever else such a connection sends is reported here as well.
  if (responded.has(socket)) return
  responded.add(socket)
  const refusal = toRefusal(error)
  // A connection that breaks is reported here too, with an error of the system and not of the HTTP parser.
  if (!socket.writable || refusal.status >= 500) {
    socket.destroy()
    return
  }
  const at = deps.clock.now()
  const incoming = socket.parser?.incoming
  if (incoming && !incoming.complete) {
    // It is the body of a request that is known: whoever reads it answers; if nobody does, the answer is made already.
    deps.bodies.spoil(incoming, refusal)
    await answersUnderWay(socket)
    socket.destroySoon()
    return
  }
  await answersUnderWay(socket)
  if (!socket.writable) return
  const address = peerAddress(socket)
  const admission = await deps.admit({ authorization: undefined, address, isPublic: true }).catch(() => undefined)
  const final = admission?.kind === 'refused' ? admission.refusal : refusal
  const { status, code, headers, body } = errorResponse(final, { requestId, route: '?', ...deps })
  const own = Object.entries({ ...headers, Connection: 'close' }).flat()
  close(socket, status, [...commonHeaders(requestId, admission?.budget ?? notCharged), ...own], body)
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

async function answersUnderWay(socket: HttpSocket): Promise<void> {
  let last: ServerResponse | undefined
  for (let response = socket._httpMessage; response && response !== last; response = socket._httpMessage) {
    last = response
    await new Promise((resolve) => last?.once('close', resolve))
  }
}

/** Stays a moment to throw away what is still coming: a reset would take the answer from the client before it is read. */
function close(socket: Socket, status: number, headers: readonly string[], body: string): void {
  const all = [...headers, 'content-type', jsonType, 'content-length', Buffer.byteLength(body)]
  const lines = all.map((each, index) => (index % 2 === 0 ? `${each}: ` : `${each}\r\n`))
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer)).once('end', () => socket.destroySoon())
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}
