import type { Readable } from 'node:stream'

export class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

/** The whole of a body, unless it is longer than it has any business to be. */
export async function readBounded(body: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxBytes) {
      body.destroy()
      throw new TooLarge(`The answer is longer than ${maxBytes} bytes.`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
