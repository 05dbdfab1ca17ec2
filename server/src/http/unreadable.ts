import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { withoutPrefix } from '../lib/ids.ts'
import { Refusal } from '../lib/refuse.ts'
import { errorReply, standingHeaders, uncharged } from './answer.ts'
import { tooSlow } from './bodies.ts'
import { peerAddress } from './client-address.ts'
import type { PipelineDeps } from './pipeline.ts'

/** What Node keeps on a connection: the request it is parsing, and the answer being written. */
type HttpSocket = Socket & {
  parser?: { incoming?: IncomingMessage | null } | null
  _httpMessage?: ServerResponse | null
}

const answered = new WeakSet<Socket>()
const lingerMs = 500

/**
 * Bytes that are not an HTTP request, or one that came too slowly: there is no request to answer, only a connection. What
 * came before on the same connection is answered first, and the connection is closed.
 */
export async function answerUnreadable(
  error: NodeJS.ErrnoException,
  socket: HttpSocket,
  requestId: string,
  deps: PipelineDeps,
): Promise<void> {
  // Whatever else such a connection sends is reported here as well.
  if (answered.has(socket)) return
  answered.add(socket)
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const at = deps.clock.now()
  const refusal = refusalFor(error)
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
  const headers = standingHeaders(requestId, admission?.budget ?? uncharged)
  headers.push(...Object.entries({ ...final.parts.headers, Connection: 'close' }).flat())
  close(socket, final.status, headers, JSON.stringify(errorReply(final, requestId, deps.publicUrl)))
  deps.record({
    id: withoutPrefix('req', requestId) as string,
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
}

export const notHttp = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code })

async function answersUnderWay(socket: HttpSocket): Promise<void> {
  let last: ServerResponse | undefined
  for (let answer = socket._httpMessage; answer && answer !== last; answer = socket._httpMessage) {
    last = answer
    await new Promise((resolve) => last?.once('close', resolve))
  }
}

/** Stays a moment to throw away what is still coming: a reset would take the answer from the client before it is read. */
function close(socket: Socket, status: number, headers: readonly string[], body: string): void {
  const all = [...headers, 'content-type', 'application/json; charset=utf-8', 'content-length', Buffer.byteLength(body)]
  const lines = all.map((each, index) => (index % 2 === 0 ? `${each}: ` : `${each}\r\n`))
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer)).once('end', () => socket.destroySoon())
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}

function refusalFor({ code = '' }: NodeJS.ErrnoException): Refusal {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return tooSlow()
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new Refusal('payload_too_large', { message: 'The headers are larger than 16 KiB.' })
  }
  const fault = { param: 'request', code: 'invalid', message: `This is not a valid HTTP request (${code}).` }
  const headers = { Connection: 'close' }
  return new Refusal('validation_failed', { message: fault.message, param: fault.param, errors: [fault], headers })
}
