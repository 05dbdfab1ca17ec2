import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Answers as they came over the wire, for what no well-behaved client would send. */
export interface RawResponse {
  status: number
  headers: Headers
  body: unknown
}

export interface RawConnection {
  socket: Socket
  send(text: string): void
  /** The next answers; fails if the connection ends before them. */
  answers(count: number): Promise<RawResponse[]>
  /** All answers until the other side ends the connection. */
  untilClosed(): Promise<RawResponse[]>
}

export async function rawConnection(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  let received = Buffer.alloc(0)
  let ended = false
  const news = new EventTarget()
  const tell = () => news.dispatchEvent(new Event('news'))
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    tell()
  })
  socket.on('close', () => {
    ended = true
    tell()
  })
  const until = async (done: () => boolean) => {
    while (!done()) await new Promise((resolve) => news.addEventListener('news', resolve, { once: true }))
  }
  return {
    socket,
    send: (text) => void socket.write(Buffer.from(text, 'latin1')),
    async answers(count) {
      await until(() => ended || parseAnswers(received).length >= count)
      const responses = parseAnswers(received)
      if (responses.length < count) throw new Error(`${responses.length} answers came, not ${count}: ${received}`)
      return responses
    },
    async untilClosed() {
      await until(() => ended)
      return parseAnswers(received)
    },
  }
}

/** Sends bytes as they are and gives the one answer after which the connection ends. */
export async function rawResponse(url: string, text: string): Promise<RawResponse> {
  const connection = await rawConnection(url)
  connection.send(text)
  const responses = await connection.untilClosed()
  if (responses.length !== 1) throw new Error(`${responses.length} answers came, not one`)
  return responses[0] as RawResponse
}

function parseAnswers(bytes: Buffer): RawResponse[] {
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
