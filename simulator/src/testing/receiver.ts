import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Json } from '../json.ts'

export interface Received {
  headers: IncomingHttpHeaders
  raw: Buffer
  body: { object: string; entry: { id: string; time?: number; changes: { field: string; value: Json }[] }[] }
}

/** A webhook endpoint of an app: it passes the handshake, records requests and responds with the configured statuses. */
export async function startReceiver(verifyToken: string) {
  const requests: Received[] = []
  const handshakes: URLSearchParams[] = []
  let responses: number[] = []
  let hold: ((response: ServerResponse) => void) | undefined
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://receiver')
    if (request.method === 'GET') {
      handshakes.push(url.searchParams)
      const isValid = url.searchParams.get('hub.verify_token') === verifyToken
      return response.writeHead(isValid ? 200 : 403).end(isValid ? url.searchParams.get('hub.challenge') : '')
    }
    const parts: Buffer[] = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      const raw = Buffer.concat(parts)
      requests.push({ headers: request.headers, raw, body: JSON.parse(raw.toString('utf8')) })
      if (hold) return hold(response)
      response.writeHead(responses.shift() ?? 200).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const changes = () => requests.flatMap((one) => one.body.entry.flatMap((entry) => entry.changes))
  const lists = (name: 'messages' | 'statuses') => changes().flatMap((change) => (change.value[name] ?? []) as Json[])
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    requests,
    handshakes,
    respondWith: (...statuses: number[]) => {
      responses = statuses
    },
    holdResponses: (handler: ((response: ServerResponse) => void) | undefined) => {
      hold = handler
    },
    changes,
    messages: () => lists('messages'),
    statuses: () => lists('statuses'),
    statusesOf: (id: string) => lists('statuses').filter((status) => status.id === id),
    clear: () => {
      requests.length = 0
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

export function isSignedWith(secret: string, received: Received): boolean {
  const expected = `sha256=${createHmac('sha256', secret).update(received.raw).digest('hex')}`
  return received.headers['x-hub-signature-256'] === expected
}
