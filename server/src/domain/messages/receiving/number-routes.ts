import type { Db } from '../../../db/db.ts'
import { RevisionedCache, readAt } from '../../../db/revisioned-cache.ts'
import { type Destination, destinationsOf } from '../../senders/senders.ts'

/** One of the network's numbers, as seen through an app. */
export interface Address {
  appId: string
  phoneNumberId: string
}

const keyOf = ({ appId, phoneNumberId }: Address): string => `${appId} ${phoneNumberId}`

function addressOf(key: string): Address {
  const [appId = '', phoneNumberId = ''] = key.split(/ (.*)/s)
  return { appId, phoneNumberId }
}

const maxCopies = 50_000

/**
 * Where payloads belong, at a routing revision. Whoever asks has just read the revision, so in steady state nothing is asked
 * of the database; a number that is not ours is remembered as well.
 */
export class Routes {
  readonly #cache: RevisionedCache<Destination>

  constructor(db: Db) {
    const read = async (keys: readonly string[]) =>
      readAt(await destinationsOf(db, keys.map(addressOf)), 'senderId', (found) => [keyOf(found), found])
    this.#cache = new RevisionedCache(read, maxCopies)
  }

  /** At this revision the number was looked for and not found. Asks nothing of the database. */
  isUnknown(address: Address, revision: number): boolean {
    return this.#cache.get(keyOf(address), revision) === null
  }

  /** In the order of the addresses, at one revision: the one given, or a later one. */
  async find(
    addresses: readonly Address[],
    revision: number,
  ): Promise<{ revision: number; destinations: (Destination | null)[] }> {
    const keys = addresses.map(keyOf)
    const found = await this.#cache.find(keys, revision)
    return { revision: found.revision, destinations: keys.map((key) => found.values.get(key) ?? null) }
  }
}
