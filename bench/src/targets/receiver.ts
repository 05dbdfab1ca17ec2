import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceiverSettings {
  /** The types of the events that are expected for each number. */
  types: readonly string[]
  /** The secret of each endpoint, by its path. Without one, its signatures are not verified. */
  secrets: Readonly<Record<string, string>>
}

export interface Arrivals {
  /** In milliseconds since 1970: for the event of type `t` with number `n`, at index `n * types + t`. */
  arrivals: (number | null)[]
  repeats: number
  /** Deliveries with a wrong signature, or of an event that was not expected. */
  invalid: number
}

/**
 * Receives deliveries and records when the event with each number first arrived: its body contains `number:<n>;`. `GET /`
 * returns the arrivals and forgets them. `PUT /` changes the settings.
 */
export async function startReceiver(): Promise<number> {
  let settings: ReceiverSettings = { types: ['message.received'], secrets: {} }
  let received: Arrivals = { arrivals: [], repeats: 0, invalid: 0 }

  function record(path: string, headers: IncomingHttpHeaders, body: string): void {
    const now = performance.timeOrigin + performance.now()
    const at = body.indexOf('number:') + 7
    const number = Number(body.slice(at, body.indexOf(';', at)))
    const type = settings.types.indexOf(String(headers['service-event']))
    const secret = settings.secrets[path]
    const isSigned = secret === undefined || isValid(String(headers['service-signature']), body, secret)
    const slot = number * settings.types.length + type
    if (type < 0 || !Number.isInteger(slot) || !isSigned) received.invalid++
    else if (received.arrivals[slot] === undefined) received.arrivals[slot] = now
    else received.repeats++
  }

  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('latin1').on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      if (request.method === 'GET') {
        response.end(JSON.stringify(received))
        received = { arrivals: [], repeats: 0, invalid: 0 }
        return
      }
      response.end('ok')
      if (request.method === 'PUT') settings = JSON.parse(body) as ReceiverSettings
      else record(request.url ?? '', request.headers, body)
    })
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** The body is text in which each character is one byte. */
function isValid(signature: string, body: string, secret: string): boolean {
  const [, seconds = '', hex = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? []
  return hex !== '' && createHmac('sha256', secret).update(`${seconds}.${body}`, 'latin1').digest('hex') === hex
}
