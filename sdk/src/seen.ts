/** The IDs of events that were received, to handle each event once. */
export interface SeenEvents {
  /** Remembers the ID. Returns false if it was known. An `insert … on conflict do nothing` does both at once. */
  add(id: string): boolean | Promise<boolean>
  /**
   * Forgets the ID of an event whose handler failed, so that the retry is handled. Not used with `acknowledge: 'before'`,
   * because an event that was acknowledged is not retried.
   */
  delete?(id: string): unknown
}

/**
 * Keeps the last IDs in memory, 10,000 by default. They are lost when the program ends, and other instances of it do not
 * know them: with more than one instance, use a table of your database.
 */
export function newSeenEvents(maxCount = 10_000): SeenEvents {
  const ids = new Set<string>()
  return {
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
