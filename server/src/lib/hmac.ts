import { createHash, createHmac, hash } from 'node:crypto'

const blockBytes = 64
const digestBytes = 32
/** Longer messages use `createHmac`: its overhead is small compared to hashing them. */
const scratch = Buffer.allocUnsafe(32 * 1024)

type Encoding = 'hex' | 'base64'

/**
 * HMAC-SHA256 (RFC 2104) with a key that is used often: two one-shot digests. `createHmac` creates a native object for
 * every signature, and garbage collection of those takes longer than signing.
 */
export class HmacKey {
  readonly #key: Buffer
  readonly #inner = Buffer.alloc(blockBytes, 0x36)
  /** The outer key block, followed by space for the inner digest. */
  readonly #outer = Buffer.alloc(blockBytes + digestBytes, 0x5c)

  constructor(key: Buffer) {
    this.#key = key
    const block = key.length > blockBytes ? createHash('sha256').update(key).digest() : key
    for (const [at, byte] of block.entries()) {
      this.#inner[at] = 0x36 ^ byte
      this.#outer[at] = 0x5c ^ byte
    }
  }

  /** Signs `start`, a short ASCII text, followed by `rest`. */
  sign(start: string, rest: Buffer, encoding: Encoding): string {
    const size = blockBytes + start.length + rest.length
    if (size > scratch.length) return createHmac('sha256', this.#key).update(start).update(rest).digest(encoding)
    this.#inner.copy(scratch)
    scratch.write(start, blockBytes, 'latin1')
    rest.copy(scratch, blockBytes + start.length)
    this.#outer.write(hash('sha256', scratch.subarray(0, size), 'latin1'), blockBytes, 'latin1')
    return hash('sha256', this.#outer, encoding)
  }
}
