import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A response to raw bytes, for requests that a normal client would not send. */
export interface RawResponse {
  status: number
  headers: Headers
  body: unknown
}

export interface RawConnection {
  socket: Socket
  send(text: string): void
  /** Waits for this many responses. Fails if the connection is closed before. */
  responses(count: number): Promise<RawResponse[]>
  /** Waits until the server closes the connection, and returns all responses. */
  untilClosed(): Promise<RawResponse[]>
}

export async function rawConnection(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  let received = Buffer.alloc(0)
  let ended = false
  const events = new EventTarget()
  const notify = () => events.dispatchEvent(new Event('change'))
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    notify()
  })
  socket.on('close', () => {
    ended = true
    notify()
  })
  const until = async (done: () => boolean) => {
    while (!done()) await new Promise((resolve) => events.addEventListener('change', resolve, { once: true }))
  }
  return {
    socket,
    send: (text) => void socket.write(Buffer.from(text, 'latin1')),
    async responses(count) {
      await until(() => ended || parseResponses(received).length >= count)
      const responses = parseResponses(received)
      if (responses.length < count)
        throw new Error(`got ${responses.length} responses instead of ${count}: ${received}`)
      return responses
    },
    async untilClosed() {
      await until(() => ended)
      return parseResponses(received)
    },
  }
}

/** Sends raw bytes and returns the only response, after the server has closed the connection. */
export async function rawResponse(url: string, text: string): Promise<RawResponse> {
  const connection = await rawConnection(url)
  connection.send(text)
  const responses = await connection.untilClosed()
  if (responses.length !== 1) throw new Error(`got ${responses.length} responses instead of one`)
  return responses[0] as RawResponse
}

function parseResponses(bytes: Buffer): RawResponse[] {
  const responses: RawResponse[] = []
  for (let rest = bytes; ; ) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) return responses
    const [line = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n')
    const headers = new Headers(
      lines.map((each) => [each.slice(0, each.indexOf(':')), each.slice(each.indexOf(':') + 1).trim()]),
    )
    const length = Number(headers.get('content-length') ?? 0)
    const body = rest.subarray(end + 4, end + 4 + length)
    if (body.length < length) return responses
    responses.push({ status: Number(line.split(' ')[1]), headers, body: length > 0 ? JSON.parse(body.toString()) : '' })
    rest = rest.subarray(end + 4 + length)
  }
}
