import type { Database } from '../../../db/db.ts'
import { RevisionedCache, readAt } from '../../../db/revisioned-cache.ts'
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

const maxCopies = 50_000

/**
 * Endpoints with their secrets opened, cached in memory only. Whatever changes one also changes the routing revision, so
 * one small read tells whether the cache is current.
 */
export class Targets {
  readonly #keys: SecretKeys
  readonly #onFault: (id: string, error: unknown) => void
  readonly #revision: RoutingRevision
  readonly #cache: RevisionedCache<Target>
  readonly #sealed = new Set<string>()

  constructor(db: Database, keys: SecretKeys, onFault: (id: string, error: unknown) => void) {
    this.#keys = keys
    this.#onFault = onFault
    this.#revision = new RoutingRevision(db)
    const read = async (ids: readonly string[]) =>
      readAt(await sealedTargets(db, ids), 'id', (row) => [row.id, this.#open(row)])
    this.#cache = new RevisionedCache(read, maxCopies)
  }

  /** Those whose secret did not open when they were last read. */
  get sealed(): ReadonlySet<string> {
    return this.#sealed
  }

  /** These targets as they are at the moment of the call, or later; one that was deleted is null. */
  async read(ids: readonly string[]): Promise<ReadonlyMap<string, Target | null>> {
    const { values } = await this.#cache.find(ids, await this.#revision.read())
    for (const [id, target] of values) {
      if (target?.keys !== null) this.#sealed.delete(id)
      else this.#sealed.add(id)
    }
    return values
  }

  /** Fails the read under way, if it waits for the revision. */
  close(): Promise<void> {
    return this.#revision.close()
  }

  #open(row: SealedTarget): Target {
    return { url: new URL(row.url), enabled: row.enabled, keys: this.#keysOf(row) }
  }

  #keysOf(row: SealedTarget): SigningKeys | null {
    try {
      return signingKeysOf(open(this.#keys, row.secret_sealed, webhookSecretContext(row.id)))
    } catch (error) {
      // Told once, not again with every change to any other endpoint.
      if (!this.#sealed.has(row.id)) this.#onFault(row.id, error)
      this.#sealed.add(row.id)
      return null
    }
  }
}

export const webhookSecretContext = (id: string): string => `webhooks/${id}`
