import { deleteOldest } from '../lib/delete-oldest.ts'

/** What one statement has read: a revision, and the values of the keys that were found. */
export interface ReadAt<Value> {
  revision: number
  values: Iterable<readonly [string, Value]>
}

/** A key that does not exist is null. */
export interface FoundAt<Value> {
  revision: number
  values: ReadonlyMap<string, Value | null>
}

/**
 * Values that are read from the database by key. A revision is a number in the database that every transaction raises that
 * changes one of them, so a value is true for as long as the revision is the one it was read at. The cache holds values of
 * one revision, the latest it has seen: a statement that comes back late, with an earlier one, is not kept. After a failover
 * or a restored backup the revision may be lower than before; a statement that began since then says so, and is kept.
 *
 * Keys that do not exist are remembered as well, and apart: anybody can ask for made-up keys, and those must not push out
 * what exists.
 */
export class RevisionedCache<Value extends NonNullable<unknown>> {
  readonly #read: (keys: readonly string[]) => Promise<ReadAt<Value>>
  readonly #max: number
  readonly #values = new Map<string, Value>()
  readonly #absent = new Map<string, null>()
  #revision = -1

  /** `read` has to read the revision and the values in one statement. At most `max` values are kept. */
  constructor(read: (keys: readonly string[]) => Promise<ReadAt<Value>>, max: number) {
    this.#read = read
    this.#max = max
  }

  /** The value at this revision, by default the one of the cache; null if there is none, undefined if it is not known. */
  get(key: string, revision = this.#revision): Value | null | undefined {
    if (revision !== this.#revision) return undefined
    return this.#values.get(key) ?? this.#absent.get(key)
  }

  /**
   * The values of these keys at one revision, which is not before the call. It takes a statement to know that; a caller that
   * has just read the current revision names it, and spares the statement if all is in memory.
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
    const found = await this.#readAndKeep(missing)
    // The revision moved, and what was in memory may be true no longer: all of it is read at one revision.
    if (found.revision !== revision && values.size > 0) return this.#readAndKeep(new Set(keys))
    for (const [key, value] of found.values) values.set(key, value)
    return { revision: found.revision, values }
  }

  async #readAndKeep(keys: ReadonlySet<string>): Promise<FoundAt<Value>> {
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

/** A row of a statement that joins rows to the revision; where it finds none, the one row it has is empty. */
export type AtRevision<Row> = { revision: number } & (Row | { [Column in keyof Row]: null })

/** What such a statement has read; `id` is a column that is never null in a row. */
export function readAt<Row, Value>(
  rows: readonly AtRevision<Row>[],
  id: keyof Row,
  toEntry: (row: Row, revision: number) => readonly [string, Value],
): ReadAt<Value> {
  const revision = rows[0]?.revision ?? 0
  return { revision, values: rows.flatMap((row) => (row[id] === null ? [] : [toEntry(row as Row, revision)])) }
}
