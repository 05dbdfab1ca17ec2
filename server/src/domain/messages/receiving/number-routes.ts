import type { Db } from '../../../db/db.ts'
import { RevisionedCache, readAt } from '../../../db/revisioned-cache.ts'
import { type Destination, destinationsOf } from '../../senders/senders.ts'

/** A phone number of the network and the app through which it is connected. */
export interface Address {
  appId: string
  phoneNumberId: string
}

const keyOf = ({ appId, phoneNumberId }: Address): string => `${appId} ${phoneNumberId}`

function addressOf(key: string): Address {
  const [appId = '', phoneNumberId = ''] = key.split(/ (.*)/s)
  return { appId, phoneNumberId }
}

const maxCached = 50_000

/**
 * Maps phone numbers to senders, cached for one routing revision. Callers pass the current revision, so the database is read
 * only after a change. Unknown numbers are cached too.
 */
export class NumberRoutes {
  readonly #cache: RevisionedCache<Destination>

  constructor(db: Db) {
    const read = async (keys: readonly string[]) =>
      readAt(await destinationsOf(db, keys.map(addressOf)), 'senderId', (found) => [keyOf(found), found])
    this.#cache = new RevisionedCache(read, maxCached)
  }

  /** Whether the number is cached as unknown at this revision. Does not read the database. */
  isUnknown(address: Address, revision: number): boolean {
    return this.#cache.get(keyOf(address), revision) === null
  }

  /** The destinations in the order of the addresses, at the given revision or a later one. */
  async find(
    addresses: readonly Address[],
    revision: number,
  ): Promise<{ revision: number; destinations: (Destination | null)[] }> {
    const keys = addresses.map(keyOf)
    const found = await this.#cache.find(keys, revision)
    return { revision: found.revision, destinations: keys.map((key) => found.values.get(key) ?? null) }
  }
}
