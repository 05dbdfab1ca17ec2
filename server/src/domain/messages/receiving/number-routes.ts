import type { Db } from '../../../db/db.ts'
import { forgetOldest } from '../../../lib/forget-oldest.ts'
import { type Destination, destinationsOf } from '../../senders/senders.ts'

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

  /** At this revision the number was looked for and not found. Asks nothing of the database. */
  isUnknown(address: Address, revision: number): boolean {
    return revision === this.#revision && this.#known.get(keyOf(address)) === null
  }

  async find(addresses: readonly Address[], revision: number): Promise<(Destination | null)[]> {
    if (revision !== this.#revision) {
      this.#known.clear()
      this.#revision = revision
    }
    // Of its own: while we ask, others may come with another revision and forget what is known.
    const answer = new Map<string, Destination | null>()
    const unknown = new Map<string, Address>()
    for (const each of addresses) {
      const key = keyOf(each)
      const known = this.#known.get(key)
      if (known === undefined) unknown.set(key, each)
      else answer.set(key, known)
    }
    if (unknown.size > 0) {
      for (const found of await destinationsOf(this.#db, [...unknown.values()])) answer.set(keyOf(found), found)
      // Read after the revision was, so at least as new.
      if (revision === this.#revision) {
        for (const key of unknown.keys()) this.#known.set(key, answer.get(key) ?? null)
        forgetOldest(this.#known, maxCopies)
      }
    }
    return addresses.map((each) => answer.get(keyOf(each)) ?? null)
  }
}
