/** The median; of an even number of values, the mean of the two in the middle. NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2
}

/** The smallest value that is greater than this share of all: 0.99 for p99. NaN without values. */
export function percentile(values: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Each round divided by the same round of the base, so that a slow moment of the machine affects both. */
export const ratiosOf = (rounds: readonly number[], bases: readonly number[]): number[] =>
  rounds.map((value, round) => value / (bases[round] ?? Number.NaN))

/** Counts of several measurements added up, by name. */
export function addCounts(counts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const each of counts) for (const [name, count] of Object.entries(each)) sums[name] = (sums[name] ?? 0) + count
  return sums
}
