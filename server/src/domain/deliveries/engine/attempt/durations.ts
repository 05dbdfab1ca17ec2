/**
 * Upper bounds of the steps (buckets) of a histogram of attempt durations, in milliseconds. One more step counts all longer
 * attempts. After the steps, a histogram has the longest duration, in microseconds. Histograms of several hours can be added up;
 * percentiles cannot.
 */
export const stepsMs = [
  5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000, 1500, 2000, 3000, 5000, 7500, 10_000,
] as const

/** The index of the longest duration in a histogram. */
export const longestIndex = stepsMs.length + 1

export function countSteps(durationsMs: readonly number[]): number[] {
  const histogram = new Array<number>(longestIndex + 1).fill(0)
  for (const ms of durationsMs) {
    const found = stepsMs.findIndex((step) => ms <= step)
    const step = found < 0 ? stepsMs.length : found
    histogram[step] = (histogram[step] ?? 0) + 1
  }
  histogram[longestIndex] = Math.round(Math.max(0, ...durationsMs) * 1000)
  return histogram
}

export const addSteps = (left: readonly number[], right: readonly number[]): number[] =>
  Array.from({ length: longestIndex + 1 }, (_, index) => {
    const [one, other] = [left[index] ?? 0, right[index] ?? 0]
    return index === longestIndex ? Math.max(one, other) : one + other
  })

/**
 * The percentile `share` (0.95 for p95), interpolated within its step and never above the longest attempt; null without
 * attempts.
 */
export function percentileMs(histogram: readonly number[], share: number): number | null {
  const counts = histogram.slice(0, longestIndex)
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const longestMs = (histogram[longestIndex] ?? 0) / 1000 || Number(stepsMs.at(-1))
  const rank = Math.ceil(total * share)
  let counted = 0
  for (const [step, count] of counts.entries()) {
    if (counted + count >= rank) {
      const from = stepsMs[step - 1] ?? 0
      const to = Math.max(from, Math.min(stepsMs[step] ?? longestMs, longestMs))
      return Math.round((from + ((to - from) * (rank - counted)) / count) * 1000) / 1000
    }
    counted += count
  }
  return longestMs
}
