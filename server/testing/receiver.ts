import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from 'vitest'

export interface Received {
  headers: IncomingHttpHeaders
  body: string
  id: string
  path: string
}

/** What a receiver does with a request: answers with a status, or does something of its own. */
export type Behaviour = number | ((response: ServerResponse, received: Received) => void)

/** A receiver on this machine that remembers all it got. */
export interface Receiver {
  url: string
  port: number
  received: Received[]
  /** Connections that were made to it, ever. */
  connections(): number
  /** How it behaves from now on. */
  behave(behaviour: Behaviour): void
  /** How it behaves next, once for each; then as before. */
  next(...behaviours: Behaviour[]): void
  close(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  let usual: Behaviour = 200
  const coming: Behaviour[] = []
  const received: Received[] = []
  let connections = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const id = String(request.headers['service-delivery'])
      const one = { headers: request.headers, body, id, path: request.url ?? '' }
      received.push(one)
      const behaviour = coming.shift() ?? usual
      if (typeof behaviour === 'number') response.writeHead(behaviour).end(`answer ${behaviour}`)
      else behaviour(response, one)
    })
  })
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    connections: () => connections,
    behave(behaviour) {
      usual = behaviour
    },
    next: (...behaviours) => void coming.push(...behaviours),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Receivers that are closed when the tests of this file are done. */
export function useReceivers(): () => Promise<Receiver> {
  const open: Receiver[] = []
  afterAll(async () => void (await Promise.all(open.map((each) => each.close()))))
  return async () => {
    const receiver = await startReceiver()
    open.push(receiver)
    return receiver
  }
}
