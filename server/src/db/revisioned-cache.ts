import { deleteOldest } from '../lib/delete-oldest.ts'

/** The result of one statement: a revision, and the values of the keys that exist. */
export interface ReadAt<Value> {
  revision: number
  values: Iterable<readonly [string, Value]>
}

/** The value of a key that does not exist is null. */
export interface FoundAt<Value> {
  revision: number
  values: ReadonlyMap<string, Value | null>
}

/**
 * Caches values that are read from the database by key. The revision is a number in the database that every transaction
 * increments that changes one of the values, so a cached value is valid as long as the revision is the one it was read
 * at. The cache holds values of one revision, the latest it has seen; a late result with an earlier revision is not
 * cached. After a failover or a restored backup the revision can be lower than before. A statement that started after
 * that shows it, and its result is cached.
 *
 * Keys that do not exist are cached too, but separately: clients can send any number of made-up keys, and those must
 * not evict existing ones.
 */
export class RevisionedCache<Value extends NonNullable<unknown>> {
  readonly #read: (keys: readonly string[]) => Promise<ReadAt<Value>>
  readonly #max: number
  readonly #values = new Map<string, Value>()
  readonly #absent = new Map<string, null>()
  #revision = -1

  /** `read` must read the revision and the values in one statement. At most `max` values are cached. */
  constructor(read: (keys: readonly string[]) => Promise<ReadAt<Value>>, max: number) {
    this.#read = read
    this.#max = max
  }

  /** The value at this revision, by default that of the cache. Null: the key does not exist. Undefined: not cached. */
  get(key: string, revision = this.#revision): Value | null | undefined {
    if (revision !== this.#revision) return undefined
    return this.#values.get(key) ?? this.#absent.get(key)
  }

  /**
   * Returns the values of these keys at one revision, which is at least the revision at the time of the call. Finding
   * that out takes a statement. A caller that has just read the current revision passes it, which saves the statement
   * if all values are cached.
   */
  async find(keys: readonly string[], current?: number): Promise<FoundAt<Value>> {
    const revision = this.#revision
    const isOutdated = current !== undefined && current !== revision
    const values = new Map<string, Value | null>()
    const missing = new Set<string>()
    for (const key of keys) {
      const value = isOutdated ? undefined : this.get(key)
      if (value === undefined) missing.add(key)
      else values.set(key, value)
    }
    if (current !== undefined && !isOutdated && missing.size === 0) return { revision, values }
    const found = await this.#readAndCache(missing)
    // The revision changed, so the cached values may be outdated. Read all of them at one revision.
    if (found.revision !== revision && values.size > 0) return this.#readAndCache(new Set(keys))
    for (const [key, value] of found.values) values.set(key, value)
    return { revision: found.revision, values }
  }

  async #readAndCache(keys: ReadonlySet<string>): Promise<FoundAt<Value>> {
    const before = this.#revision
    const { revision, values: existing } = await this.#read([...keys])
    const values = new Map<string, Value | null>(existing)
    for (const key of keys) if (!values.has(key)) values.set(key, null)
    if (revision > this.#revision || revision < before) {
      this.#values.clear()
      this.#absent.clear()
      this.#revision = revision
    }
    if (revision === this.#revision) {
      for (const [key, value] of values) {
        if (value === null) this.#absent.set(key, null)
        else this.#values.set(key, value)
      }
      deleteOldest(this.#values, this.#max)
      deleteOldest(this.#absent, this.#max)
    }
    return { revision, values }
  }
}

/** A row of a statement that left-joins rows to the revision. If there are none, its only row has nulls. */
export type AtRevision<Row> = { revision: number } & (Row | { [Column in keyof Row]: null })

/** Converts the rows of such a statement. `id` is a column that is never null in an existing row. */
export function readAt<Row, Value>(
  rows: readonly AtRevision<Row>[],
  id: keyof Row,
  toEntry: (row: Row, revision: number) => readonly [string, Value],
): ReadAt<Value> {
  const revision = rows[0]?.revision ?? 0
  return { revision, values: rows.flatMap((row) => (row[id] === null ? [] : [toEntry(row as Row, revision)])) }
}
