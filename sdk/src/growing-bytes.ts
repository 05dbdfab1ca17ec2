const smallestBytes = 1024

/**
 * Collects the chunks of a body in one array that doubles when it is full. A list of chunks would need about a hundred bytes
 * of memory for each of them, and the sender decides how small they are.
 */
export class GrowingBytes {
  #bytes: Uint8Array = new Uint8Array()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The collected bytes; shares its memory with this object. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size)
  }

  append(chunk: Uint8Array): void {
    const size = this.#size + chunk.length
    if (size > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(size, 2 * this.#bytes.length, smallestBytes))
      larger.set(this.bytes)
      this.#bytes = larger
    }
    this.#bytes.set(chunk, this.#size)
    this.#size = size
  }
}
