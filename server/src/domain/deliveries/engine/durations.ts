/**
 * Upper bounds of the steps (buckets) of a histogram of attempt durations, in milliseconds. One more step counts all longer
 * attempts. Histograms of several hours can be added up; percentiles cannot.
 */
export const stepsMs = [
  5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000, 1500, 2000, 3000, 5000, 7500, 10_000,
] as const

export function countSteps(durationsMs: readonly number[]): number[] {
  const counts = new Array<number>(stepsMs.length + 1).fill(0)
  for (const ms of durationsMs) {
    const found = stepsMs.findIndex((step) => ms <= step)
    const step = found < 0 ? stepsMs.length : found
    counts[step] = (counts[step] ?? 0) + 1
  }
  return counts
}

export const addSteps = (left: readonly number[], right: readonly number[]): number[] =>
  Array.from({ length: stepsMs.length + 1 }, (_, step) => (left[step] ?? 0) + (right[step] ?? 0))

/** The percentile `share` (0.95 for p95), interpolated within its step; null without attempts. */
export function percentileMs(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let counted = 0
  for (const [step, count] of counts.entries()) {
    if (count > 0 && counted + count >= total * share) {
      const from = step === 0 ? 0 : (stepsMs[step - 1] ?? 0)
      const to = stepsMs[step] ?? stepsMs.at(-1) ?? 0
      return Math.round(from + ((to - from) * Math.max(0, total * share - counted)) / count)
    }
    counted += count
  }
  return stepsMs.at(-1) ?? null
}
