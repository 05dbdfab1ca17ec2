import { once } from 'node:events'
import { Readable } from 'node:stream'
import { type ByteRange, readByteRange } from '../lib/byte-range.ts'
import { refuse } from '../lib/refuse.ts'

/** A response that is not JSON: its headers, and the bytes, which are read only when they are sent. */
export interface BytesResponse {
  status: 200 | 206
  headers: Readonly<Record<string, string>>
  open(): AsyncIterable<Buffer>
}

/** A stored file that can be read completely or in part. */
export interface ByteSource {
  size: number
  contentType: string
  disposition: string
  tag: string
  read(range: ByteRange): AsyncIterable<Buffer>
}

/** The whole file or the requested range, as a download that no browser renders or executes. */
export function sendBytes(
  source: ByteSource,
  { range, ifRange }: { range: string | undefined; ifRange: string | undefined },
): BytesResponse {
  const { size, tag } = source
  // If-Range: the range applies only if the file is unchanged. Otherwise the client gets the whole file.
  const requested = readByteRange(ifRange === undefined || ifRange === tag ? range : undefined, size)
  if (requested.kind === 'nothing') {
    return refuse('range_not_satisfiable', {
      message: `The requested range is outside the file, which has ${size} bytes.`,
      headers: { 'Content-Range': `bytes */${size}` },
    })
  }
  const { first, last } = requested.kind === 'part' ? requested.range : { first: 0, last: size - 1 }
  return {
    status: requested.kind === 'part' ? 206 : 200,
    headers: {
      'Content-Type': source.contentType,
      'Content-Length': String(last - first + 1),
      'Content-Disposition': source.disposition,
      'Content-Security-Policy': "sandbox; default-src 'none'",
      'Accept-Ranges': 'bytes',
      ETag: tag,
      ...(requested.kind === 'part' && { 'Content-Range': `bytes ${first}-${last}/${size}` }),
    },
    open: () => source.read({ first, last }),
  }
}

/**
 * The bytes as a stream, which is read as fast as the client does. HEAD reads none. Waits for the first bytes: an error before
 * the headers are sent can still be reported, a later one closes the connection.
 */
export async function openBytes({ open }: BytesResponse, method: string): Promise<Readable> {
  const bytes = Readable.from(method === 'HEAD' ? [] : open(), { objectMode: false })
  await once(bytes, 'readable')
  return bytes
}
