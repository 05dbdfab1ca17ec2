import type { Database } from '../../../../db/db.ts'
import { RevisionedCache, readAt } from '../../../../db/revisioned-cache.ts'
import { type Clock, startTimer } from '../../../../lib/clock.ts'
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
/** Attempts begin with a revision whose read began at most this long ago. `change-endpoint.ts` relies on it. */
export const currentMs = 100
/** How many reads in a row may take longer, or be followed by `expire`. */
const readsMax = 5

/**
 * A cache of endpoints with decrypted secrets, in memory only. Every change to an endpoint also raises the routing revision,
 * so reading one number is enough to know whether the cache is current. That is read when the last read is `currentMs` old.
 */
export class Targets {
  readonly #clock: Clock
  readonly #keys: SecretKeys
  readonly #onUnreadable: (id: string, error: unknown) => void
  readonly #revision: RoutingRevision
  readonly #cache: RevisionedCache<Target>
  readonly #unreadable = new Set<string>()
  /** The last revision that was read, and the time since that read began. */
  #last: { revision: number; ageMs: () => number } | undefined
  #expirations = 0

  constructor(db: Database, clock: Clock, keys: SecretKeys, onUnreadable: (id: string, error: unknown) => void) {
    this.#clock = clock
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

  /** The target for an attempt that begins now; null if the endpoint was deleted. Undefined: `read` it first. */
  get(id: string): Target | null | undefined {
    return this.#isCurrent ? this.#cache.get(id, this.#last?.revision) : undefined
  }

  /**
   * Makes `get` return these targets, as they are now or were at most `currentMs` ago. Returns the targets if every read of the
   * database takes longer than that: a slow database must not stop deliveries. Attempts that waited for the read begin with them.
   */
  async read(ids: readonly string[]): Promise<ReadonlyMap<string, Target | null> | null> {
    let latest: number | undefined
    for (let reads = 0; !this.#isCurrent && reads < readsMax; reads++) {
      const ageMs = startTimer(this.#clock)
      const expirations = this.#expirations
      latest = await this.#revision.read()
      // A read that began before `expire` does not count.
      if (expirations === this.#expirations) this.#last = { revision: latest, ageMs }
    }
    const isCurrent = this.#isCurrent
    const last = this.#last
    const { revision, values } = await this.#cache.find(ids, isCurrent ? last?.revision : latest)
    // The endpoints were read after the revision, and have changed since then.
    if (isCurrent && last && this.#last === last) this.#last = { ...last, revision }
    for (const [id, target] of values) {
      if (target?.keys !== null) this.#unreadable.delete(id)
      else this.#unreadable.add(id)
    }
    return isCurrent ? null : values
  }

  /** The next attempt begins after another read of the revision. */
  expire(): void {
    this.#last = undefined
    this.#expirations++
  }

  get #isCurrent(): boolean {
    return this.#last !== undefined && this.#last.ageMs() < currentMs
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
