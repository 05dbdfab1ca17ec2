import type { Clock } from '../../lib/clock.ts'
import { deleteOldest } from '../../lib/delete-oldest.ts'
import { CountedWindows } from '../../sharing/counted-windows.ts'
import type { Limits } from './limits.ts'

/** A request costs more than its bytes. */
const minBytes = 4 * 1024

/** Webhooks of the usual 1 to 2 KB, and small batches. */
const smallBytes = 16 * 1024

/** The network posts from changing addresses, but uses each for longer than this. */
const knownForMs = 3_600_000

const maxAddresses = 10_000

/**
 * What is known about the addresses that post webhooks. A signature can be verified only after its body was read, so an
 * address that sends wrong ones is limited before its next body is read.
 */
export class NetworkSenders {
  readonly #clock: Clock
  readonly #verifiedMs = new Map<string, number>()
  /** By app and address: an app with a wrong secret must not affect the others, whose webhooks come from the same addresses. */
  readonly #wrong: CountedWindows

  constructor(limits: Limits['wrongSignatures'], clock: Clock) {
    this.#clock = clock
    this.#wrong = new CountedWindows(limits)
  }

  /** Whether the address has sent a correctly signed webhook within the last hour. */
  isKnown(block: string): boolean {
    const verifiedMs = this.#verifiedMs.get(block)
    return verifiedMs !== undefined && performance.now() - verifiedMs < knownForMs
  }

  /**
   * Whether a body may be read. A known address that exceeds the limit belongs to the network and to others, for
   * example a proxy. Its small bodies are still read, because nearly all bodies of the network are small.
   */
  mayRead(appId: string, block: string, contentLength: number): boolean {
    if (!this.#wrong.isFull(keyOf(appId, block), this.#clock.now())) return true
    return contentLength <= smallBytes && this.isKnown(block)
  }

  addVerified(block: string): void {
    this.#verifiedMs.delete(block)
    this.#verifiedMs.set(block, performance.now())
    deleteOldest(this.#verifiedMs, maxAddresses)
  }

  addWrong(appId: string, block: string, bytes: number): void {
    this.#wrong.count(keyOf(appId, block), this.#clock.now(), Math.max(bytes, minBytes))
  }
}

const keyOf = (appId: string, block: string): string => `${appId} ${block}`
