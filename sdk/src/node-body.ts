import { GrowingBytes } from './growing-bytes.ts'
import { BodyTooLarge } from './receive.ts'

/** A request of Node's `http`, as far as it is needed to read its body. */
export interface NodeBody {
  on(event: 'data', listener: (chunk: Uint8Array | string) => void): unknown
  on(event: 'end' | 'close', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
}

/**
 * Reads a body to its end. Of one that is too large the rest is let go by unread: a sender that is cut off in the middle would
 * never see the answer.
 */
export function readNodeBody(body: NodeBody, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const collected = new GrowingBytes()
    let isTooLarge = false
    body.on('data', (chunk) => {
      const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
      isTooLarge ||= collected.size + bytes.length > maxBytes
      if (isTooLarge) reject(new BodyTooLarge(maxBytes))
      else collected.append(bytes)
    })
    body.on('end', () => resolve(collected.bytes))
    body.on('error', reject)
    body.on('close', () => reject(new Error('The connection closed before the whole body came.')))
  })
}
