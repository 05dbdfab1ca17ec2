import type { Readable } from 'node:stream'
import { GrowingBuffer } from '../lib/growing-buffer.ts'

export class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

/** The whole of a body, unless it is longer than it has any business to be. */
export async function readBounded(body: Readable, maxBytes: number): Promise<Buffer> {
  const buffer = new GrowingBuffer(maxBytes)
  for await (const chunk of body) {
    if (buffer.size + chunk.length > maxBytes) {
      body.destroy()
      throw new TooLarge(`The answer is longer than ${maxBytes} bytes.`)
    }
    buffer.append(chunk)
  }
  return buffer.bytes
}
