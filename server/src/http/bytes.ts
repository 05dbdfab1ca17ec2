import { type ByteRange, readByteRange } from '../lib/byte-range.ts'
import { refuse } from '../lib/refuse.ts'

/** An answer that is no JSON: its headers, and the bytes, which nobody makes before somebody takes them. */
export interface Bytes {
  status: 200 | 206
  headers: Readonly<Record<string, string>>
  open(): AsyncIterable<Buffer>
}

/** Something kept that can be read in part or whole. */
export interface Readable {
  size: number
  contentType: string
  disposition: string
  tag: string
  read(range: ByteRange): AsyncIterable<Buffer>
}

/** A download that no browser shows or runs, whatever is in it; the whole, or the one range that was asked for. */
export function sendBytes(
  source: Readable,
  { range, ifRange }: { range: string | undefined; ifRange: string | undefined },
): Bytes {
  const { size, tag } = source
  // Whoever resumes says what of; if it is another file by now, it begins anew.
  const asked = readByteRange(ifRange === undefined || ifRange === tag ? range : undefined, size)
  if (asked.kind === 'nothing') {
    return refuse('range_not_satisfiable', {
      message: `The file has ${size} bytes; the range asked for lies outside.`,
      headers: { 'Content-Range': `bytes */${size}` },
    })
  }
  const { first, last } = asked.kind === 'part' ? asked.range : { first: 0, last: size - 1 }
  return {
    status: asked.kind === 'part' ? 206 : 200,
    headers: {
      'Content-Type': source.contentType,
      'Content-Length': String(last - first + 1),
      'Content-Disposition': source.disposition,
      'Content-Security-Policy': "sandbox; default-src 'none'",
      'Accept-Ranges': 'bytes',
      ETag: tag,
      ...(asked.kind === 'part' && { 'Content-Range': `bytes ${first}-${last}/${size}` }),
    },
    open: () => source.read({ first, last }),
  }
}
