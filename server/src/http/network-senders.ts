import { deleteOldest } from '../lib/delete-oldest.ts'
import type { BodySource } from './body-memory.ts'

export interface SenderLimits {
  /** How many bytes of wrongly signed webhooks an address may send at once. */
  wrongBytes: number
  /** How many more it may send per second. */
  wrongBytesPerSecond: number
}

const MiB = 1024 * 1024

/**
 * Two of the largest webhooks at once, then what takes about a hundredth of a core to read and verify. An app secret that
 * is wrong here makes the network exceed this; it repeats the webhooks, and they are accepted once the secret is right.
 */
export const defaultSenderLimits: SenderLimits = { wrongBytes: 8 * MiB, wrongBytesPerSecond: MiB }

/** A request costs more than its bytes. */
const minBytes = 4 * 1024

/** Webhooks of the usual 1 to 2 KB, and small batches. */
const smallBytes = 16 * 1024

/** The network posts from changing addresses, but uses each for longer than this. */
const knownForMs = 3_600_000

/** How many addresses are remembered. */
const maxAddresses = 10_000

/**
 * What is known about the addresses that post webhooks. A signature can be verified only after its body was read, so an
 * address that sends wrong ones is limited before its next body is read.
 */
export class NetworkSenders {
  readonly #limits: SenderLimits
  /** When an address last sent a correctly signed webhook. */
  readonly #verifiedMs = new Map<string, number>()
  /** By app and address: an app with a wrong secret must not affect the others, whose webhooks come from the same addresses. */
  readonly #wrong = new Map<string, { bytes: number; atMs: number }>()

  constructor(limits: SenderLimits) {
    this.#limits = limits
  }

  /** Whether the address has sent a correctly signed webhook within the last hour. */
  isKnown(block: string): boolean {
    const verifiedMs = this.#verifiedMs.get(block)
    return verifiedMs !== undefined && performance.now() - verifiedMs < knownForMs
  }

  bodySourceOf(block: string): BodySource {
    return this.isKnown(block) ? 'network' : 'unverified'
  }

  /**
   * Whether a body may be read. A known address that exceeds the limit is one that the network shares with others, such as a
   * proxy: its small bodies are still read, because those are nearly all of the network's.
   */
  mayRead(appId: string, block: string, contentLength: number): boolean {
    if (this.#wrong.size === 0 || this.#wrongBytes(keyOf(appId, block)) <= this.#limits.wrongBytes) return true
    return contentLength <= smallBytes && this.isKnown(block)
  }

  addVerified(block: string): void {
    this.#verifiedMs.delete(block)
    this.#verifiedMs.set(block, performance.now())
    deleteOldest(this.#verifiedMs, maxAddresses)
  }

  addWrong(appId: string, block: string, bytes: number): void {
    const key = keyOf(appId, block)
    const total = this.#wrongBytes(key) + Math.max(bytes, minBytes)
    this.#wrong.delete(key)
    // Bounded, so that one burst does not block an address for long.
    this.#wrong.set(key, { bytes: Math.min(total, 2 * this.#limits.wrongBytes), atMs: performance.now() })
    deleteOldest(this.#wrong, maxAddresses)
  }

  #wrongBytes(key: string): number {
    const wrong = this.#wrong.get(key)
    if (!wrong) return 0
    const passedSeconds = (performance.now() - wrong.atMs) / 1000
    return Math.max(0, wrong.bytes - passedSeconds * this.#limits.wrongBytesPerSecond)
  }
}

const keyOf = (appId: string, block: string): string => `${appId} ${block}`
