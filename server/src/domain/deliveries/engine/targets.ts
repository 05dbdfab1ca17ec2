import type { Database } from '../../../db/db.ts'
import { open, type SecretKeys } from '../../../lib/seal.ts'
import { RoutingRevision } from './routing-revision.ts'
import { type SigningKeys, signingKeysOf } from './signature.ts'
import { type SealedTarget, sealedTargets } from './targets.sql.ts'

/** What a delivery needs to know of its endpoint. */
export interface Target {
  url: URL
  enabled: boolean
  /** Null if its secret does not open: nothing can be signed until a key that opens it is back, or it is rotated. */
  keys: SigningKeys | null
}

/**
 * Endpoints with their secrets opened, cached in memory only. Whatever changes one also changes the routing revision, so
 * one small read tells whether the whole cache is current. A deleted endpoint is null.
 */
export class Targets {
  readonly #db: Database
  readonly #keys: SecretKeys
  readonly #onFault: (id: string, error: unknown) => void
  #copies = new Map<string, Target | null>()
  #sealed: ReadonlySet<string> = new Set()
  readonly #revision: RoutingRevision
  /** The revision that the cache was read at. */
  #readAt = 0
  #refreshing: Promise<void> = Promise.resolve()

  constructor(db: Database, keys: SecretKeys, onFault: (id: string, error: unknown) => void) {
    this.#db = db
    this.#keys = keys
    this.#onFault = onFault
    this.#revision = new RoutingRevision(db)
  }

  get(id: string): Target | null {
    return this.#copies.get(id) ?? null
  }

  /** Those of the known ones whose secret does not open. */
  get sealed(): ReadonlySet<string> {
    return this.#sealed
  }

  /**
   * Makes these targets, and all others in the cache, as current as the moment of the call: every change that was committed
   * before it is seen.
   */
  refresh(ids: readonly string[]): Promise<void> {
    // One after the other, so that the cache never goes back to an earlier revision.
    const refreshed = this.#refreshing.then(() => this.#refresh(ids))
    this.#refreshing = refreshed.catch(() => {})
    return refreshed
  }

  /** Fails the refresh under way, if it waits for the revision. */
  close(): Promise<void> {
    return this.#revision.close()
  }

  async #refresh(ids: readonly string[]): Promise<void> {
    const revision = await this.#revision.read()
    if (revision === this.#readAt && ids.every((id) => this.#copies.has(id))) return
    const all = new Set([...ids, ...this.#copies.keys()])
    const found = await sealedTargets(this.#db, [...all])
    // Of those that are gone, only the ones asked for are remembered.
    const copies = new Map<string, Target | null>(ids.map((id) => [id, null]))
    for (const row of found.rows) copies.set(row.id, this.#open(row))
    this.#copies = copies
    this.#sealed = new Set([...copies].filter(([, target]) => target?.keys === null).map(([id]) => id))
    this.#readAt = found.revision
  }

  #open(row: SealedTarget): Target {
    return { url: new URL(row.url), enabled: row.enabled, keys: this.#keysOf(row) }
  }

  #keysOf(row: SealedTarget): SigningKeys | null {
    try {
      return signingKeysOf(open(this.#keys, row.secret_sealed, secretPlace(row.id)))
    } catch (error) {
      // Told once, not again with every change to any other endpoint.
      if (!this.#sealed.has(row.id)) this.#onFault(row.id, error)
      return null
    }
  }
}

export const secretPlace = (id: string): string => `webhooks/${id}`
