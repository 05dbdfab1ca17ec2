import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Responds instead of the usual 200, and returns whether the endpoint took the event. */
export type Behaviour = (response: ServerResponse) => boolean

/** Many webhook receivers on one port, one for each path. Counts by endpoint and event ID how often it took an event. */
export interface CountingReceiver {
  urlOf(path: string): string
  /** How often the endpoint at this path took the event. */
  taken(path: string, eventId: string): number
  /** Endpoints and events that were taken more than once, as `path eventId`. */
  repeated(): Map<string, number>
  total(): number
  behave(path: string, behaviour: Behaviour | null): void
  /** Refuses connections, until `restore`. */
  cut(): void
  restore(): Promise<void>
  close(): void
}

export async function openReceiver(): Promise<CountingReceiver> {
  const counts = new Map<string, number>()
  const behaviours = new Map<string, Behaviour>()
  let total = 0
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    request.on('error', () => {})
    request.resume().on('end', () => {
      const path = (request.url ?? '').slice(1)
      const behaviour = behaviours.get(path)
      if (behaviour && !behaviour(response)) return
      if (!behaviour) response.end()
      total++
      const name = `${path} ${request.headers['service-delivery']}`
      counts.set(name, (counts.get(name) ?? 0) + 1)
    })
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const cut = () => {
    server.close()
    server.closeAllConnections()
  }
  return {
    urlOf: (path) => `http://127.0.0.1:${port}/${path}`,
    taken: (path, eventId) => counts.get(`${path} ${eventId}`) ?? 0,
    repeated: () => new Map([...counts].filter(([, count]) => count > 1)),
    total: () => total,
    behave: (path, behaviour) => void (behaviour ? behaviours.set(path, behaviour) : behaviours.delete(path)),
    cut,
    restore: () => listen(port),
    close: cut,
  }
}
