/** The IDs of events that were received, to handle each event once. */
export interface SeenEvents {
  /** Whether the ID is known. */
  has(id: string): boolean | Promise<boolean>
  /**
   * Remembers the ID. Returns false if it was known, as `insert … on conflict do nothing` can. Called after the handler has
   * succeeded, so that an event is handled again if the program ends in between; with `acknowledge: 'before'`, called first.
   */
  add(id: string): boolean | Promise<boolean>
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
  }
}
