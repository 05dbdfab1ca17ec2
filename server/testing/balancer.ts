import { once } from 'node:events'
import { createServer, type IncomingMessage, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Balancer {
  url: string
  add(upstream: string): void
  /** Sends it no more requests, and waits until it has responded to those in progress. */
  drain(upstream: string): Promise<void>
  close(): Promise<void>
}

interface Upstream {
  url: string
  isReady: boolean
  inProgress: number
}

const checkEveryMs = 100

/** A small load balancer: it sends requests in turn to the processes whose /readyz returns 200. */
export async function startBalancer(): Promise<Balancer> {
  const upstreams = new Map<string, Upstream>()
  let turn = 0
  const check = setInterval(() => {
    for (const upstream of upstreams.values()) {
      fetch(`${upstream.url}/readyz`, { signal: AbortSignal.timeout(5_000) }).then(
        async (response) => {
          await response.arrayBuffer()
          upstream.isReady = response.status === 200
        },
        () => {
          upstream.isReady = false
        },
      )
    }
  }, checkEveryMs)

  async function choose(): Promise<Upstream> {
    for (;;) {
      const ready = [...upstreams.values()].filter(({ isReady }) => isReady)
      const chosen = ready[turn++ % Math.max(1, ready.length)]
      if (chosen) return chosen
      await sleep(20)
    }
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const upstream = await choose()
    upstream.inProgress++
    try {
      const forwarded = await forward(upstream.url, request, body)
      response.writeHead(forwarded.status, forwarded.headers).end(forwarded.body)
    } catch (error) {
      response.writeHead(502).end(String(error))
    } finally {
      upstream.inProgress--
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (url) => void upstreams.set(url, { url, isReady: false, inProgress: 0 }),
    async drain(url) {
      const upstream = upstreams.get(url)
      upstreams.delete(url)
      while (upstream && upstream.inProgress > 0) await sleep(20)
    },
    async close() {
      clearInterval(check)
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function forward(url: string, { method, url: path, headers }: IncomingMessage, body: Buffer) {
  const { host, connection, 'transfer-encoding': _, ...passed } = headers
  const sent = send(`${url}${path}`, {
    method,
    headers: { ...passed, 'content-length': body.length },
    // A new connection for each request: none is closed just when a request is sent on it.
    agent: false,
  })
  sent.end(body)
  const [received] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of received) chunks.push(chunk as Buffer)
  const type = received.headers['content-type']
  return {
    status: received.statusCode ?? 502,
    headers: type ? { 'content-type': type } : {},
    body: Buffer.concat(chunks),
  }
}
