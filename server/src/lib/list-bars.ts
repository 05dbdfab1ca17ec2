import type { ListBars } from '@parley/contract/console/list-bars'

/** The bars above a list: when each begins, and when the last one ends. */
export interface BarTimes {
  times: Date[]
  stepMs: number
}

const minuteMs = 60_000
export const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const defaultMs = 7 * dayMs
/** Some more than 60, so that the last hour still has bars of a minute when it has been shown for a while. */
const mostBars = 72

const steps = [1, 5, 15].map((minutes) => minutes * minuteMs).concat([1, 3, 6, 12].map((hours) => hours * hourMs))

interface Range {
  from: Date | null
  to: Date | null
  zone: string | undefined
}

/**
 * The bars of a time range: at most 73, with a round length of at least `leastMs`. Without a start the range is the seven
 * days before its end. Days and parts of days begin at midnight in the zone, except that bars of an hour or more begin at
 * full hours in UTC, because rows are counted by those.
 */
export function barTimes({ from, to, zone }: Range, now: Date, leastMs = minuteMs): BarTimes {
  const end = Math.min(to?.getTime() ?? Number.POSITIVE_INFINITY, now.getTime() + 1)
  const start = from?.getTime() ?? end - defaultMs
  const lengthMs = Math.max(1, end - start)
  const isEnough = (step: number) => step >= leastMs && step * mostBars >= lengthMs
  const stepMs = steps.find(isEnough) ?? Math.ceil(lengthMs / mostBars / dayMs) * dayMs
  const offset = stepMs > hourMs ? offsets(zone) : () => 0
  const alignMs = Math.min(stepMs, dayMs)
  const first = Math.floor((start + offset(start)) / alignMs) * alignMs
  const count = Math.ceil((Math.max(end, start + 1) + offset(end) - first) / stepMs)
  const times = Array.from({ length: count + 1 }, (_, index) => {
    const local = first + index * stepMs
    return new Date(local - offset(local - offset(local)))
  })
  return { times, stepMs }
}

/** How far a zone is ahead of UTC at a time, in full hours. An unknown zone counts as UTC. */
function offsets(zone: string | undefined): (time: number) => number {
  try {
    const format = new Intl.DateTimeFormat('en', { timeZone: zone ?? 'UTC', timeZoneName: 'longOffset' })
    return (time) => {
      const name = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? ''
      const [, sign, hours] = /GMT([+-])(\d\d)/.exec(name) ?? []
      return (sign === '-' ? -1 : 1) * Number(hours ?? 0) * hourMs
    }
  } catch {
    return () => 0
  }
}

export interface BarCount {
  /** From 1, as `width_bucket` returns it. */
  bar: number
  result: string
  count: number
}

/** The counts of each result. Rows outside of the bars are left out. */
export function toListBars({ times }: BarTimes, rows: readonly BarCount[], countedFrom: Date | null = null): ListBars {
  const counts: ListBars['counts'] = {}
  for (const { bar, result, count } of rows) {
    if (bar < 1 || bar >= times.length) continue
    counts[result] ??= new Array<number>(times.length - 1).fill(0)
    const values = counts[result]
    values[bar - 1] = (values[bar - 1] ?? 0) + count
  }
  return {
    times: times.map((time) => time.toISOString()),
    counts,
    counted_from: countedFrom?.toISOString() ?? null,
  }
}
