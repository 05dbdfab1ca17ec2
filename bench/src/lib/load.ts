import { connect, type Socket } from 'node:net'
import { percentile } from './statistics.ts'

export interface Load {
  port: number
  connections: number
  seconds: number
  /** Complete requests as bytes. Connection `c` sends requests `c`, `c + connections`, … and then starts over. */
  requests: readonly Buffer[]
  /** Sends each request at most once and ends after the last one. */
  once?: boolean
  /** Requests per second over all connections. Without it, each connection sends as soon as it has a response. */
  pace?: number
  /** Is called with the index of the request, and the time in milliseconds since 1970. */
  onResponse?: (request: number, at: number) => void
}

export interface Measured {
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** Number of responses by status. */
  statuses: Record<string, number>
}

/**
 * Each connection sends a request, waits for its response, and sends the next. With a pace, the latency of a request counts
 * from the time at which it was due, so that a stalled server is charged for the requests that were delayed. It does as
 * little work as possible per request, because it shares the machine with the server.
 */
export async function putUnderLoad(load: Load): Promise<Measured> {
  const latencies: number[] = []
  const statuses: Record<string, number> = {}
  const started = performance.now()
  const until = started + load.seconds * 1000
  const runs = Array.from({ length: load.connections }, (_, first) =>
    runConnection(load, first, started, until, (ms, status) => {
      latencies.push(ms)
      statuses[status] = (statuses[status] ?? 0) + 1
    }),
  )
  await Promise.all(runs)
  const elapsed = (performance.now() - started) / 1000
  const [p50Ms, p99Ms] = [percentile(latencies, 0.5), percentile(latencies, 0.99)]
  return { perSecond: latencies.length / elapsed, p50Ms, p99Ms, statuses }
}

function runConnection(
  { port, connections, requests, once = false, pace, onResponse }: Load,
  first: number,
  started: number,
  until: number,
  record: (ms: number, status: string) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ host: '127.0.0.1', port, noDelay: true })
    let next = first
    let due = 0
    let received: Buffer = Buffer.alloc(0)
    const dueAt = (number: number) => (pace === undefined ? performance.now() : started + (number / pace) * 1000)
    const send = () => {
      if ((once && next >= requests.length) || performance.now() >= until) return socket.end()
      due = dueAt(next)
      const wait = due - performance.now()
      const request = requests[next % requests.length] as Buffer
      next += connections
      if (wait > 1) return setTimeout(() => socket.write(request), wait)
      return socket.write(request)
    }
    socket.on('connect', send)
    socket.on('data', (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const size = sizeOf(received)
      if (size === undefined || received.length < size) return
      record(performance.now() - due, received.toString('latin1', 9, 12))
      onResponse?.(next - connections, performance.timeOrigin + performance.now())
      received = received.subarray(size)
      send()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve())
  })
}

/** The length of a response with its headers; undefined while the headers are incomplete. */
function sizeOf(bytes: Buffer): number | undefined {
  const head = bytes.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const length = /content-length: (\d+)/i.exec(bytes.toString('latin1', 0, head))?.[1]
  return head + 4 + Number(length ?? 0)
}
