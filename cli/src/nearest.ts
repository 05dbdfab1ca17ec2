import { editDistance } from '@parley/server/lib/edit-distance'

/** The word with the fewest differences to what was typed, for "Did you mean …?"; undefined if none is close. */
export function nearest(typed: string, words: readonly string[]): string | undefined {
  const candidates = words.map((word) => ({ word, distance: editDistance(typed, word) }))
  const [best] = candidates.sort((left, right) => left.distance - right.distance)
  return best && best.distance <= Math.max(1, Math.floor(typed.length / 3)) ? best.word : undefined
}
