/**
 * Collects the pieces of a body in one buffer that doubles as it fills. A list of pieces would cost about a hundred bytes of
 * heap for each of them, and the sender decides how small they are.
 */
export class GrowingBuffer {
  #bytes: Buffer = Buffer.alloc(0)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** What was collected; shares its memory with the buffer. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size)
  }

  append(piece: Buffer): void {
    const size = this.#size + piece.length
    if (size > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.#bytes.length, 1024))
      this.bytes.copy(larger)
      this.#bytes = larger
    }
    piece.copy(this.#bytes, this.#size)
    this.#size = size
  }
}
