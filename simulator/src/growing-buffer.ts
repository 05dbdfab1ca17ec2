/**
 * Collects the chunks of a body in one buffer that doubles when it is full. A list of chunks would cost about a hundred
 * bytes of heap per chunk, and the sender decides how small the chunks are.
 */
export class GrowingBuffer {
  #bytes: Buffer = Buffer.alloc(0)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The bytes collected so far, as a view on the buffer. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size)
  }

  append(chunk: Buffer): void {
    const size = this.#size + chunk.length
    if (size > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.#bytes.length, 1024))
      this.bytes.copy(larger)
      this.#bytes = larger
    }
    chunk.copy(this.#bytes, this.#size)
    this.#size = size
  }
}
