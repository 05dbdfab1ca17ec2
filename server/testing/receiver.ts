import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from 'vitest'

export interface Received {
  headers: IncomingHttpHeaders
  body: string
  id: string
  path: string
}

/** How a receiver handles a request: a status to respond with, or a function. */
export type Behaviour = number | ((response: ServerResponse, received: Received) => void)

/** A webhook receiver on this machine that records its requests. */
export interface Receiver {
  url: string
  port: number
  received: Received[]
  /** The number of connections so far. */
  connections(): number
  /** Sets the behavior for all following requests. */
  behave(behaviour: Behaviour): void
  /** Sets the behavior of the next requests, one for each. */
  next(...behaviours: Behaviour[]): void
  close(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  let usual: Behaviour = 200
  const queued: Behaviour[] = []
  const received: Received[] = []
  let connections = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const id = String(request.headers['service-delivery'])
      const item = { headers: request.headers, body, id, path: request.url ?? '' }
      received.push(item)
      const behaviour = queued.shift() ?? usual
      if (typeof behaviour === 'number') response.writeHead(behaviour).end(`response ${behaviour}`)
      else behaviour(response, item)
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
    next: (...behaviours) => void queued.push(...behaviours),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Returns a function that starts receivers. They are closed after the tests of this file. */
export function useReceivers(): () => Promise<Receiver> {
  const open: Receiver[] = []
  afterAll(async () => void (await Promise.all(open.map((each) => each.close()))))
  return async () => {
    const receiver = await startReceiver()
    open.push(receiver)
    return receiver
  }
}
