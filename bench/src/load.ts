import { connect, type Socket } from 'node:net'

export interface Load {
  port: number
  connections: number
  seconds: number
  /** Whole requests as bytes; connection `c` sends number `c`, `c + connections`, … and begins again. */
  requests: readonly Buffer[]
}

export interface Measured {
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** How many answers had each status. */
  statuses: Record<string, number>
}

/**
 * A closed loop: each connection sends a request, waits for its answer, and sends the next. It does as little as it can
 * for each, since it shares the machine with what it measures.
 */
export async function putUnderLoad({ port, connections, seconds, requests }: Load): Promise<Measured> {
  const latencies: number[] = []
  const statuses: Record<string, number> = {}
  const started = performance.now()
  const until = started + seconds * 1000
  const runs = Array.from({ length: connections }, (_, first) =>
    runConnection(port, first, connections, requests, until, (ms, status) => {
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
  port: number,
  first: number,
  step: number,
  requests: readonly Buffer[],
  until: number,
  note: (ms: number, status: string) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ host: '127.0.0.1', port, noDelay: true })
    let next = first % requests.length
    let sent = 0
    let received: Buffer = Buffer.alloc(0)
    const send = () => {
      sent = performance.now()
      socket.write(requests[next] as Buffer)
      next = (next + step) % requests.length
    }
    socket.on('connect', send)
    socket.on('data', (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const size = sizeOf(received)
      if (size === undefined || received.length < size) return
      const now = performance.now()
      note(now - sent, received.toString('latin1', 9, 12))
      received = received.subarray(size)
      if (now < until) send()
      else socket.end()
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
