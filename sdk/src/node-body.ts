import { GrowingBytes } from './growing-bytes.ts'
import { BodyTooLarge } from './receive.ts'

/** The parts of a request of Node's `http` that are needed to read its body. */
export interface NodeBody {
  on(event: 'data', listener: (chunk: Uint8Array | string) => void): unknown
  on(event: 'end' | 'close', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
}

/**
 * Reads a body to its end. If it is too large, the rest is read and discarded: if the connection were cut, the sender would
 * not see the response.
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
    body.on('close', () => reject(new Error('The connection was closed before the body was complete.')))
  })
}
