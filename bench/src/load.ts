import { connect, type Socket } from 'node:net'

export interface Load {
  port: number
  connections: number
  seconds: number
  /** Whole requests as bytes; connection `c` sends number `c`, `c + connections`, … and begins again. */
  requests: readonly Buffer[]
  /** Each request at most once: when they are used up, the load ends. */
  once?: boolean
  /** Requests a second over all connections; without it, each connection sends as soon as it has its answer. */
  pace?: number
}

export interface Measured {
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** How many answers had each status. */
  statuses: Record<string, number>
}

/**
 * Each connection sends a request, waits for its answer, and sends the next. With a pace, a request's time counts from the
 * moment it was due, so that a server that stalls is not spared the requests that would have come meanwhile. It does as
 * little as it can for each, since it shares the machine with what it measures.
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
  const sorted = Float64Array.from(latencies).sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { perSecond: latencies.length / elapsed, p50Ms: at(0.5), p99Ms: at(0.99), statuses }
}

function runConnection(
  { port, connections, requests, once = false, pace }: Load,
  first: number,
  started: number,
  until: number,
  note: (ms: number, status: string) => void,
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
      note(performance.now() - due, received.toString('latin1', 9, 12))
      received = received.subarray(size)
      send()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve())
  })
}

/** The length of an answer, head and body; undefined while the head is not complete. */
function sizeOf(bytes: Buffer): number | undefined {
  const head = bytes.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const length = /content-length: (\d+)/i.exec(bytes.toString('latin1', 0, head))?.[1]
  return head + 4 + Number(length ?? 0)
}
