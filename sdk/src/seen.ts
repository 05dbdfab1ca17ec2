/** The IDs of events that were received, to handle each event once. Each method may return a promise. */
export interface SeenEvents {
  /** Whether the ID is known. */
  has(id: string): boolean | Promise<boolean>
  /**
   * Remembers the ID. Returns false if it was known, as `insert … on conflict do nothing` can. Called after the handler has
   * succeeded, so that an event is handled again if the program ends in between; with `acknowledge: 'before'`, called first.
   */
  add(id: string): boolean | Promise<boolean>
  /** Forgets the ID. Called if the handler of an acknowledged event fails, so that the event can be sent again. */
  delete(id: string): unknown
}

/**
 * Keeps the last IDs in memory, 10,000 by default. They are lost when the program ends, and other instances of it do not
 * know them: with more than one instance, use a table of your database.
 */
export function newSeenEvents(maxCount = 10_000): SeenEvents {
  const ids = new Set<string>()
  return {
    has: (id) => ids.has(id),
    add(id) {
      if (ids.has(id)) return false
      ids.add(id)
      // A Set is in the order of insertion.
      for (const oldest of ids) {
        if (ids.size <= maxCount) break
        ids.delete(oldest)
      }
      return true
    },
    delete: (id) => ids.delete(id),
  }
}

/** Throws a TypeError if a method is missing, instead of failing when an event arrives. */
export function readSeen(seen: SeenEvents | null): SeenEvents | null {
  const missing = seen && (['has', 'add', 'delete'] as const).find((name) => typeof seen[name] !== 'function')
  if (missing) throw new TypeError(`seen has no method "${missing}". It needs has, add and delete.`)
  return seen
}
