/** The word with the fewest differences to what was typed, for "Did you mean …?"; undefined if none is close. */
export function nearest(typed: string, words: readonly string[]): string | undefined {
  const candidates = words.map((word) => ({ word, distance: distanceOf(typed, word) }))
  const [best] = candidates.sort((left, right) => left.distance - right.distance)
  return best && best.distance <= Math.max(1, Math.floor(typed.length / 3)) ? best.word : undefined
}

/** The Damerau-Levenshtein distance: letters to insert, delete, replace or swap. */
function distanceOf(left: string, right: string): number {
  let before: number[] = []
  let last = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let row = 1; row <= left.length; row++) {
    const next = [row]
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1]
      let least = Math.min(at(last, column) + 1, at(next, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1))
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      if (row > 1 && column > 1 && swapped) least = Math.min(least, at(before, column - 2) + 1)
      next.push(least)
    }
    before = last
    last = next
  }
  return at(last, right.length)
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY
