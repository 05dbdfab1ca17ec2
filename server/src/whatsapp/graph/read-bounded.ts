import type { Readable } from 'node:stream'
import { GrowingBuffer } from '../../lib/growing-buffer.ts'

export class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

/** Reads a body. Throws `TooLarge` if it is larger than `maxBytes`. */
export async function readBounded(body: Readable, maxBytes: number): Promise<Buffer> {
  const buffer = new GrowingBuffer(maxBytes)
  for await (const chunk of body) {
    if (buffer.size + chunk.length > maxBytes) {
      body.destroy()
      throw new TooLarge(`The response is larger than ${maxBytes} bytes.`)
    }
    buffer.append(chunk)
  }
  return buffer.bytes
}
