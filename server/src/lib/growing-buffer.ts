const smallestBytes = 1024
const nothing: Buffer = Buffer.alloc(0)

/**
 * Collects the pieces of a body in one buffer that doubles as it fills. A list of pieces would cost about a hundred bytes of
 * heap for each of them, and the sender decides how small they are.
 */
export class GrowingBuffer {
  readonly #maxBytes: number
  readonly #expectedBytes: number
  #bytes = nothing
  #size = 0
  /** The first piece is kept as it is, without a copy: most bodies have no second one. */
  #isOwn = false

  /** `expectedBytes`, if known, avoids growing past it. It is not trusted: no memory is taken before bytes arrive. */
  constructor(maxBytes: number, expectedBytes?: number) {
    this.#maxBytes = maxBytes
    this.#expectedBytes = expectedBytes ?? maxBytes
  }

  get size(): number {
    return this.#size
  }

  get capacity(): number {
    return this.#bytes.length
  }

  /** The collected bytes; they share memory with the buffer. */
  get bytes(): Buffer {
    return this.#size === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, this.#size)
  }

  /** The capacity once `length` more bytes are collected. */
  capacityWith(length: number): number {
    const needed = this.#size + length
    if (needed <= this.#bytes.length || this.#size === 0) return Math.max(needed, this.#bytes.length)
    const grown = Math.max(2 * this.#bytes.length, smallestBytes)
    const limit = needed <= this.#expectedBytes ? this.#expectedBytes : this.#maxBytes
    return Math.max(needed, Math.min(grown, limit))
  }

  append(piece: Buffer): void {
    if (this.#size === 0 && !this.#isOwn) {
      this.#bytes = piece
      this.#size = piece.length
      return
    }
    const capacity = this.capacityWith(piece.length)
    if (!this.#isOwn || capacity > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(capacity)
      this.#bytes.copy(larger, 0, 0, this.#size)
      this.#bytes = larger
      this.#isOwn = true
    }
    piece.copy(this.#bytes, this.#size)
    this.#size += piece.length
  }

  clear(): void {
    this.#bytes = nothing
    this.#size = 0
    this.#isOwn = false
  }
}
