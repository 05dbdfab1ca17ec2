import type { IncomingMessage, RequestListener } from 'node:http'
import { Readable } from 'node:stream'

/** Adapts a fetch-style handler to Node's `http`, like the runtimes for such handlers do. */
export function listenerOf(handle: (request: Request) => Response | Promise<Response>): RequestListener {
  return async (incoming, outgoing) => {
    const response = await handle(requestOf(incoming))
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    outgoing.end(Buffer.from(await response.arrayBuffer()))
  }
}

function requestOf(incoming: IncomingMessage): Request {
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as [string, string])
  const hasBody = incoming.method === 'POST'
  return new Request(`http://${incoming.headers.host}${incoming.url}`, {
    method: incoming.method ?? 'GET',
    headers,
    // Converts the Node stream to a web stream.
    ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: 'half' }),
  } as RequestInit)
}
