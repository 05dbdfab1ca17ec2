import { forgetOldest } from '../../lib/forget-oldest.ts'
import type { Access } from './access.ts'

/** A key as it was at a revision; no access: there is none with this digest. */
export interface Copy {
  digest: string
  revision: number
  access: Access | null
}

/**
 * Copies by digest, found by a number made of its first bytes: a Map of texts would look up each text that comes with a
 * request in the table of all texts there are. Two with the same number, which hardly happens, take turns.
 */
export class Copies {
  readonly #byStart = new Map<number, Copy>()

  get(digest: string): Copy | undefined {
    const copy = this.#byStart.get(startOf(digest))
    return copy?.digest === digest ? copy : undefined
  }

  /** Where there are more than `max`, those that were put first go. */
  put(copies: Iterable<Copy>, max: number): void {
    for (const copy of copies) {
      const start = startOf(copy.digest)
      this.#byStart.delete(start)
      this.#byStart.set(start, copy)
    }
    forgetOldest(this.#byStart, max)
  }
}

/** 48 bits. */
const startOf = (digest: string): number => bitsAt(digest, 0) * 2 ** 24 + bitsAt(digest, 3)

const bitsAt = (digest: string, at: number): number =>
  digest.charCodeAt(at) | (digest.charCodeAt(at + 1) << 8) | (digest.charCodeAt(at + 2) << 16)
