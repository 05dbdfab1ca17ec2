/** A period split into equal buckets of whole hours, for charts. The last bucket contains the current time. */
export interface TimeBuckets {
  from: Date
  to: Date
  hours: number
  starts: Date[]
}

const periods = {
  '24h': { hours: 1, count: 24 },
  '7d': { hours: 6, count: 28 },
  '30d': { hours: 24, count: 30 },
} as const

export function timeBuckets(period: keyof typeof periods, now: Date): TimeBuckets {
  const { hours, count } = periods[period]
  const stepMs = hours * 3_600_000
  const to = (Math.floor(now.getTime() / stepMs) + 1) * stepMs
  const starts = Array.from({ length: count }, (_, index) => new Date(to - (count - index) * stepMs))
  return { from: starts[0] as Date, to: new Date(to), hours, starts }
}

/** The full hours from a time until another, in at most 60 buckets unless they are longer than 60 days. */
export function hoursOf(from: Date, until: Date): TimeBuckets {
  const first = Math.floor(from.getTime() / 3_600_000)
  const count = Math.max(1, Math.ceil(until.getTime() / 3_600_000) - first)
  const hours = [1, 3, 6, 12].find((each) => each * 60 >= count) ?? 24
  const starts = Array.from(
    { length: Math.ceil(count / hours) },
    (_, index) => new Date((first + index * hours) * 3_600_000),
  )
  return { from: starts[0] as Date, to: new Date((first + count) * 3_600_000), hours, starts }
}

/** The index of the bucket that contains a time, or -1 if it is outside the period. */
export function bucketAt({ from, to, hours }: TimeBuckets, at: Date): number {
  if (at < from || at >= to) return -1
  return Math.floor((at.getTime() - from.getTime()) / (hours * 3_600_000))
}

/** The buckets as charts have them. */
export const bucketFields = ({ from, to, hours, starts }: TimeBuckets) => ({
  from: from.toISOString(),
  to: to.toISOString(),
  step_hours: hours,
  steps: starts.map((start) => start.toISOString()),
})

/** Sums the rows of each bucket. Rows outside the period are left out. */
export function sumByBucket<Row extends { at: Date } | { hour: Date }>(
  buckets: TimeBuckets,
  rows: readonly Row[],
  count: (row: Row) => number,
): number[] {
  const sums = new Array<number>(buckets.starts.length).fill(0)
  for (const row of rows) {
    const bucket = bucketAt(buckets, 'at' in row ? row.at : row.hour)
    if (bucket >= 0) sums[bucket] = (sums[bucket] ?? 0) + count(row)
  }
  return sums
}
