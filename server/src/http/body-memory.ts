import { addressBlock } from '../lib/addresses.ts'

const MiB = 1024 * 1024

/** Who sends a body: the network to the ingress, or a client of the API or the console. */
export type BodySource = 'network' | 'client'

interface SourceLimits {
  /** The largest body. */
  bodyBytes: number
  /** All bodies of this source together. */
  bytes: number
  /** All bodies of this source that come from one address. */
  addressBytes: number
}

/**
 * How many bytes of request bodies may be in memory at a time. A body counts with the capacity of its buffer from its first
 * byte until its request is done with it; for a webhook that is after the commit.
 */
export interface BodyLimits extends Record<BodySource, SourceLimits> {
  totalBytes: number
}

/**
 * For a heap of 512 MB. Parsed JSON takes several times the bytes of its text, so 64 MiB of bodies leave about half of the
 * heap to everything else. Clients get at most half of it. Before the app is known and its signature has the right form, a
 * webhook has about 64 KiB at most. The network posts from few addresses: one of them may have at least eight webhooks of the
 * largest size under way, or tens of thousands of the usual size of one or two KB.
 */
export const defaultBodyLimits: BodyLimits = {
  totalBytes: 64 * MiB,
  // The network's webhooks have up to 3 MB.
  network: { bodyBytes: 4 * MiB, bytes: 64 * MiB, addressBytes: 32 * MiB },
  client: { bodyBytes: 256 * 1024, bytes: 32 * MiB, addressBytes: 16 * MiB },
}

export type ExceededLimit = 'process' | 'address'

/** Counts the bytes of request bodies in memory, in total, by source and by address. */
export class BodyMemory {
  readonly #limits: BodyLimits
  readonly #uses = { network: new Use(), client: new Use() }

  constructor(limits: BodyLimits) {
    this.#limits = limits
  }

  get bytes(): number {
    return this.#uses.network.bytes + this.#uses.client.bytes
  }

  lease(source: BodySource, address: string): BodyLease {
    return new BodyLease(this.#limits.totalBytes, this, this.#limits[source], this.#uses[source], addressBlock(address))
  }
}

class Use {
  bytes = 0
  readonly byAddress = new Map<string, number>()
}

/** The part of the memory that one body has. */
export class BodyLease {
  readonly #totalBytes: number
  readonly #memory: BodyMemory
  readonly #limits: SourceLimits
  readonly #use: Use
  readonly #block: string
  #bytes = 0

  constructor(totalBytes: number, memory: BodyMemory, limits: SourceLimits, use: Use, block: string) {
    this.#totalBytes = totalBytes
    this.#memory = memory
    this.#limits = limits
    this.#use = use
    this.#block = block
  }

  /** Makes it this large; if a limit does not allow that, returns the limit and changes nothing. */
  resize(bytes: number): ExceededLimit | null {
    const more = bytes - this.#bytes
    const ofAddress = (this.#use.byAddress.get(this.#block) ?? 0) + more
    if (more > 0) {
      if (ofAddress > this.#limits.addressBytes) return 'address'
      if (this.#use.bytes + more > this.#limits.bytes || this.#memory.bytes + more > this.#totalBytes) return 'process'
    }
    this.#bytes = bytes
    this.#use.bytes += more
    if (ofAddress === 0) this.#use.byAddress.delete(this.#block)
    else this.#use.byAddress.set(this.#block, ofAddress)
    return null
  }

  /** Safe to call more than once. */
  release(): void {
    if (this.#bytes > 0) this.resize(0)
  }
}
