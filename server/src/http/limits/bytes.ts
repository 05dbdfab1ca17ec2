import type { ByteLimits } from './limits.ts'

/**
 * Whose bytes they are. A stranger is an address without a valid key or session, or not yet; `unverified` is an address that
 * posts webhooks without a correct signature, or not yet; `network` is an address from which WhatsApp posts.
 */
export type BytesOwner = 'stranger' | 'unverified' | 'workspace' | 'network'

export type ExceededBytes = 'process_bodies' | 'address_bodies' | 'workspace_bodies'

/**
 * Counts the bytes of request bodies in memory: of the process, of each kind of owner, and of each owner. A body counts with the
 * capacity of its buffer, from its first byte until the request no longer needs it; for a webhook that is after the commit.
 */
export class HeldBytes {
  readonly limits: ByteLimits
  readonly #held = {
    stranger: new AmountByKey(),
    unverified: new AmountByKey(),
    workspace: new AmountByKey(),
    network: new AmountByKey(),
  }

  constructor(limits: ByteLimits) {
    this.limits = limits
  }

  get total(): number {
    const { stranger, unverified, workspace, network } = this.#held
    return stranger.total + unverified.total + workspace.total + network.total
  }

  lease(kind: BytesOwner, owner: string): BytesLease {
    return new BytesLease(this, kind, owner)
  }

  /** Adds bytes, or removes negative ones. Returns the limit if that would exceed one, and changes nothing. */
  add(kind: BytesOwner, owner: string, bytes: number): ExceededBytes | null {
    const held = this.#held[kind]
    const { all, each } = this.limits[kind]
    if (bytes > 0) {
      if (held.of(owner) + bytes > each) return kind === 'workspace' ? 'workspace_bodies' : 'address_bodies'
      if (held.total + bytes > all || this.total + bytes > this.limits.process) return 'process_bodies'
    }
    held.add(owner, bytes)
    return null
  }
}

export class BytesLease {
  readonly #held: HeldBytes
  #kind: BytesOwner
  #owner: string
  #bytes = 0

  constructor(held: HeldBytes, kind: BytesOwner, owner: string) {
    this.#held = held
    this.#kind = kind
    this.#owner = owner
  }

  /** The request is authenticated: its body counts towards the workspace. Returns the limit if that exceeds one. */
  assignTo(workspaceId: string): ExceededBytes | null {
    const bytes = this.#bytes
    this.release()
    this.#kind = 'workspace'
    this.#owner = workspaceId
    return this.resize(bytes)
  }

  /** Changes the size. Returns the limit if that would exceed one, and changes nothing. */
  resize(bytes: number): ExceededBytes | null {
    const exceeded = this.#held.add(this.#kind, this.#owner, bytes - this.#bytes)
    if (exceeded === null) this.#bytes = bytes
    return exceeded
  }

  /** Safe to call more than once. */
  release(): void {
    this.resize(0)
  }
}

/** Amounts by key, and their sum. Zero is not stored. */
export class AmountByKey {
  readonly #values = new Map<string, number>()
  total = 0

  of(key: string): number {
    return this.#values.get(key) ?? 0
  }

  add(key: string, change: number): void {
    const value = this.of(key) + change
    this.total += change
    if (value === 0) this.#values.delete(key)
    else this.#values.set(key, value)
  }
}
