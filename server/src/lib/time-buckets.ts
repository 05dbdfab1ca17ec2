/** A stretch of time cut into equal steps of whole hours, for charts. The last step is the one that goes on now. */
export interface TimeBuckets {
  from: Date
  to: Date
  hours: number
  starts: Date[]
}

const cuts = { '24h': { hours: 1, count: 24 }, '7d': { hours: 6, count: 28 }, '30d': { hours: 24, count: 30 } } as const

export function timeBuckets(period: keyof typeof cuts, now: Date): TimeBuckets {
  const { hours, count } = cuts[period]
  const stepMs = hours * 3_600_000
  const to = (Math.floor(now.getTime() / stepMs) + 1) * stepMs
  const starts = Array.from({ length: count }, (_, index) => new Date(to - (count - index) * stepMs))
  return { from: starts[0] as Date, to: new Date(to), hours, starts }
}

/** In which step a time lies; -1 outside of them. */
export function bucketAt({ from, to, hours }: TimeBuckets, at: Date): number {
  if (at < from || at >= to) return -1
  return Math.floor((at.getTime() - from.getTime()) / (hours * 3_600_000))
}

/** Sums by step; what lies outside is left out. */
export function sumByBucket<Row>(
  steps: TimeBuckets,
  rows: readonly Row[],
  at: (row: Row) => Date,
  count: (row: Row) => number,
): number[] {
  const sums = new Array<number>(steps.starts.length).fill(0)
  for (const row of rows) {
    const step = bucketAt(steps, at(row))
    if (step >= 0) sums[step] = (sums[step] ?? 0) + count(row)
  }
  return sums
}
