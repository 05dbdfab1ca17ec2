/** The top of an axis: a round number at or above `most` whose half is round too, and whole. */
export function axisTop(most: number): number {
  if (most <= 4) return 4
  if (most <= 6) return 6
  const power = 10 ** Math.floor(Math.log10(most))
  return ([1, 2, 4, 5, 8, 10].find((step) => step * power >= most) ?? 10) * power
}

/** Every how many of `count` labels to show under an axis of `width` px. */
export function labelEvery(count: number, width: number): number {
  return Math.max(1, Math.ceil(count / Math.max(1, Math.floor(width / 76))))
}
