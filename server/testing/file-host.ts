import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { onTestFinished } from 'vitest'

/** A file in the network. Its bytes are generated while they are sent. */
interface HostedFile {
  size: number
  /** The size in the metadata, if it differs. */
  claimedSize?: number
  /** Stops sending at this byte and leaves the connection open. */
  stallAt?: number
  /** The URL of its bytes in the metadata, if it is another. */
  url?: string
  /** Responds to a download with a redirect. */
  redirectTo?: string
}

/** A network with only files, for what the simulator cannot do: huge files, and downloads that stall. */
export interface FileHost {
  url: string
  files: Map<string, HostedFile>
  /** The number of downloads of each file. */
  requests: Map<string, number>
  /** The number of bytes sent of each file. */
  bytesSent: Map<string, number>
}

const block = Buffer.from(Array.from({ length: 65_536 }, (_, n) => (n * 31) % 251))

export async function startFileHost(): Promise<FileHost> {
  const files = new Map<string, HostedFile>()
  const requests = new Map<string, number>()
  const bytesSent = new Map<string, number>()
  const count = (id: string) => (bytes: number) => void bytesSent.set(id, (bytesSent.get(id) ?? 0) + bytes)
  const server = createServer((request, response) => {
    const [, kind, id = ''] = /^\/(v25\.0|bytes)\/(\w+)/.exec(request.url ?? '') ?? []
    const file = files.get(id)
    if (!file) return void response.writeHead(404).end()
    if (kind === 'bytes') {
      requests.set(id, (requests.get(id) ?? 0) + 1)
      if (file.redirectTo) return void response.writeHead(302, { location: file.redirectTo }).end()
      return void Readable.from(bytesOf(file, count(id))).pipe(response.writeHead(200))
    }
    const metadata = {
      url: file.url ?? `${host.url}/bytes/${id}`,
      file_size: file.claimedSize ?? file.size,
      mime_type: 'image/png',
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const host = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, files, requests, bytesSent }
  return host
}

async function* bytesOf(
  { size, stallAt = Number.POSITIVE_INFINITY }: HostedFile,
  onSent: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; at += block.length) {
    if (at >= stallAt) await new Promise(() => {})
    const part = block.subarray(0, Math.min(block.length, size - at))
    onSent(part.length)
    yield part
  }
}

/** The SHA-256 of a file of this size, in base64. */
export function digestOf(size: number): string {
  const hash = createHash('sha256')
  for (let at = 0; at < size; at += block.length) hash.update(block.subarray(0, Math.min(block.length, size - at)))
  return hash.digest('base64')
}
