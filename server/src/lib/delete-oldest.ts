/** Deletes the oldest entries of a map until it has at most `max`. */
export function deleteOldest<Key>(map: Map<Key, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return
    map.delete(key)
  }
}
