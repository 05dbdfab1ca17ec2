import type { Db } from '../../db/db.ts'
import { forgetOldest } from '../../lib/forget-oldest.ts'
import { type Destination, destinationsOf } from './inbound.sql.ts'

/** One of the network's numbers, as seen through an app. */
export interface Address {
  appId: string
  phoneNumberId: string
}

const keyOf = ({ appId, phoneNumberId }: Address): string => `${appId} ${phoneNumberId}`

const maxCopies = 50_000

/**
 * Where payloads belong, remembered for as long as the routing revision stands. Whoever asks has just read the revision, so
 * in steady state nothing is asked of the database; a number that is not ours is remembered as well.
 */
export class Routes {
  readonly #db: Db
  readonly #known = new Map<string, Destination | null>()
  #revision = -1

  constructor(db: Db) {
    this.#db = db
  }

  async find(addresses: readonly Address[], revision: number): Promise<(Destination | null)[]> {
    if (revision !== this.#revision) {
      this.#known.clear()
      this.#revision = revision
    }
    const unknown = new Map(
      addresses.filter((each) => !this.#known.has(keyOf(each))).map((each) => [keyOf(each), each]),
    )
    if (unknown.size > 0) {
      const found = await destinationsOf(this.#db, [...unknown.values()])
      const byKey = new Map(found.map((destination) => [keyOf(destination), destination]))
      // Read after the revision was, so at least as new; another one may have been seen meanwhile.
      if (revision !== this.#revision) return addresses.map((each) => byKey.get(keyOf(each)) ?? null)
      for (const key of unknown.keys()) this.#known.set(key, byKey.get(key) ?? null)
    }
    const answer = addresses.map((each) => this.#known.get(keyOf(each)) ?? null)
    forgetOldest(this.#known, maxCopies)
    return answer
  }
}
