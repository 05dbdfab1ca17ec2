/** Drops the entries that were put into a map first, until it has no more than `max`. */
export function deleteOldest<Key>(map: Map<Key, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return
    map.delete(key)
  }
}
