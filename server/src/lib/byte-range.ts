/** A range of bytes, both ends included. */
export interface ByteRange {
  first: number
  last: number
}

export type RequestedRange = { kind: 'whole' } | { kind: 'part'; range: ByteRange } | { kind: 'nothing' }

/**
 * Reads a `Range` header (RFC 9110, 14.2). Several ranges, other units and invalid ranges are ignored, so the result is
 * `whole`. `nothing` means that the range is outside the file.
 */
export function readByteRange(header: string | undefined, size: number): RequestedRange {
  const [, from = '', to = ''] = /^bytes\s*=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/i.exec(header ?? '') ?? []
  if (from === '' && to === '') return { kind: 'whole' }
  if (from === '') {
    const count = Math.min(Number(to), size)
    return count === 0 ? { kind: 'nothing' } : { kind: 'part', range: { first: size - count, last: size - 1 } }
  }
  const first = Number(from)
  if (to !== '' && Number(to) < first) return { kind: 'whole' }
  if (first >= size) return { kind: 'nothing' }
  return { kind: 'part', range: { first, last: to === '' ? size - 1 : Math.min(Number(to), size - 1) } }
}
