import type { Database } from '../../../../db/db.ts'
import { RevisionedCache, readAt } from '../../../../db/revisioned-cache.ts'
import type { Clock } from '../../../../lib/clock.ts'
import { open, type SecretKeys } from '../../../../lib/seal.ts'
import { RoutingRevision } from './routing-revision.ts'
import { type SigningKeys, signingKeysOf } from './signature.ts'
import { type SealedTarget, sealedTargets } from './targets.sql.ts'

/** The name and the value of a header. */
export type Header = [name: string, value: string]

/** An endpoint as an attempt needs it. */
export interface Target {
  url: URL
  enabled: boolean
  /** It is failing: only a delivery that was claimed with the endpoint's turn may be attempted. */
  isPaced: boolean
  /** Null if a secret or the headers cannot be decrypted: nothing can be signed until its key is configured or the secret is rotated. */
  keys: readonly SigningKeys[] | null
  /** Names and values in turn: the headers that were added to its requests. */
  headers: readonly string[]
  /** When the secret was last replaced. */
  secretChangedAt: Date | null
}

const maxCached = 50_000

/**
 * A cache of endpoints with decrypted secrets, in memory only. Every change to an endpoint also raises the routing revision,
 * so reading one number is enough to know whether the cache is current.
 */
export class Targets {
  readonly #keys: SecretKeys
  readonly #onUnreadable: (id: string, error: unknown) => void
  readonly #revision: RoutingRevision
  readonly #cache: RevisionedCache<Target>
  readonly #unreadable = new Set<string>()

  constructor(db: Database, clock: Clock, keys: SecretKeys, onUnreadable: (id: string, error: unknown) => void) {
    this.#keys = keys
    this.#onUnreadable = onUnreadable
    this.#revision = new RoutingRevision(db, clock)
    const read = async (ids: readonly string[]) =>
      readAt(await sealedTargets(db, ids), 'id', (row) => [row.id, this.#open(row)])
    this.#cache = new RevisionedCache(read, maxCached)
  }

  /** Endpoints whose secret could not be decrypted at the last read. */
  get unreadable(): ReadonlySet<string> {
    return this.#unreadable
  }

  /** The targets as they are at the time of the call, or later. A deleted endpoint is null. */
  async read(ids: readonly string[]): Promise<ReadonlyMap<string, Target | null>> {
    const { values } = await this.#cache.find(ids, await this.#revision.read())
    for (const [id, target] of values) {
      if (target?.keys !== null) this.#unreadable.delete(id)
      else this.#unreadable.add(id)
    }
    return values
  }

  /** Makes a read that is waiting for the revision fail. */
  close(): Promise<void> {
    return this.#revision.close()
  }

  #open(row: SealedTarget): Target {
    return {
      url: new URL(row.url),
      enabled: row.enabled,
      isPaced: row.is_paced,
      ...this.#secretsOf(row),
      secretChangedAt: row.secret_changed_at,
    }
  }

  #secretsOf({ id, secrets_sealed, headers_sealed: sealed }: SealedTarget): Pick<Target, 'keys' | 'headers'> {
    try {
      const keys = secrets_sealed.map((each) => signingKeysOf(open(this.#keys, each, webhookSecretContext(id))))
      const headers =
        sealed === null ? [] : (JSON.parse(open(this.#keys, sealed, webhookHeadersContext(id))) as Header[])
      return { keys, headers: headers.flat() }
    } catch (error) {
      // Report it once, not again whenever another endpoint changes.
      if (!this.#unreadable.has(id)) this.#onUnreadable(id, error)
      this.#unreadable.add(id)
      return { keys: null, headers: [] }
    }
  }
}

export const webhookSecretContext = (id: string): string => `webhooks/${id}`
export const webhookHeadersContext = (id: string): string => `webhooks/${id}/headers`
