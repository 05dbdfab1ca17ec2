import type { Db } from '../../db/db.ts'
import { open, type SecretKeys } from '../../lib/seal.ts'
import { type SigningKeys, signingKeysOf } from './signature.ts'
import { type SealedTarget, sealedTargets } from './webhooks.sql.ts'

/** What a delivery needs to know of its endpoint. */
export interface Target {
  url: URL
  enabled: boolean
  /** Null if its secret does not open: nothing can be signed until a key that opens it is back, or it is rotated. */
  keys: SigningKeys | null
}

/**
 * Endpoints with their secrets opened, in memory only, so that a delivery costs no statement. Every statement that brings
 * deliveries names the routing revision; when it is not the one our copies were read at, all of them are read again before
 * those deliveries are made. What is gone is null.
 */
export class Targets {
  readonly #db: Db
  readonly #keys: SecretKeys
  readonly #onFault: (id: string, error: unknown) => void
  #copies = new Map<string, Target | null>()
  #sealed: ReadonlySet<string> = new Set()
  #revision = 0
  #reading: Promise<void> = Promise.resolve()

  constructor(db: Db, keys: SecretKeys, onFault: (id: string, error: unknown) => void) {
    this.#db = db
    this.#keys = keys
    this.#onFault = onFault
  }

  /** Whether these are known as of that revision. */
  knows(ids: Iterable<string>, revision: number): boolean {
    if (revision > this.#revision) return false
    for (const id of ids) if (!this.#copies.has(id)) return false
    return true
  }

  get(id: string): Target | null {
    return this.#copies.get(id) ?? null
  }

  /** Those of the known ones whose secret does not open. */
  get sealed(): ReadonlySet<string> {
    return this.#sealed
  }

  /** We disabled it ourselves; others hear of it by the revision. */
  noteDisabled(id: string): void {
    const target = this.#copies.get(id)
    if (target) target.enabled = false
  }

  /** Makes these known as of that revision. All that were known are read again with them: a delivery may wait for any. */
  async learn(ids: Iterable<string>, revision: number): Promise<void> {
    const wanted = [...ids]
    const read = this.#reading.then(async () => {
      if (this.knows(wanted, revision)) return
      const all = new Set([...wanted, ...this.#copies.keys()])
      const found = await sealedTargets(this.#db, [...all])
      const copies = new Map<string, Target | null>([...all].map((id) => [id, null]))
      for (const row of found.rows) copies.set(row.id, this.#open(row))
      this.#copies = copies
      this.#sealed = new Set([...copies].filter(([, target]) => target?.keys === null).map(([id]) => id))
      this.#revision = found.revision
    })
    this.#reading = read.catch(() => {})
    await read
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
