import type { AttemptSeries } from '@parley/contract/console/deliveries'
import type { ChartSteps } from '@parley/contract/console/overview'
import { formatClock, formatShortDay, formatShortTime } from '../lib/format.ts'
import type { Bar } from '../ui/bar-chart.tsx'
import type { Series } from '../ui/chart-frame.tsx'

/** One time step of a chart. */
export interface Step {
  key: string
  label: string
  title: string
  from: string
  to: string
}

export function stepsOf({ steps, step_hours: hours }: Pick<ChartSteps, 'steps' | 'step_hours'>): Step[] {
  return steps.map((from) => {
    const start = new Date(from)
    const end = new Date(start.getTime() + hours * 3_600_000)
    const label = hours < 6 ? formatClock(start) : formatShortDay(start)
    return {
      key: from,
      label,
      title: `${formatShortTime(start)} – ${formatShortTime(end)}`,
      from,
      to: end.toISOString(),
    }
  })
}

export const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)

/** One bar for each step, with a value of each series. */
export function barsOf(steps: readonly Step[], counts: Readonly<Record<string, unknown>>): Bar[] {
  const series = Object.entries(counts).filter((entry): entry is [string, number[]] => Array.isArray(entry[1]))
  return steps.map(({ key, label, title }, index) => ({
    key,
    label,
    title,
    values: Object.fromEntries(series.map(([name, values]) => [name, values[index] ?? 0])),
  }))
}

export const attemptSeries: readonly Series[] = [
  { key: 'succeeded', title: 'Succeeded', tone: 'good' },
  { key: 'failed', title: 'Failed', tone: 'bad' },
]

export const latencySeries: readonly Series[] = [
  { key: 'p50', title: 'p50', tone: 'accent' },
  { key: 'p95', title: 'p95', tone: 'warn' },
]

/** The response times of each step. */
export const latencyPoints = (steps: readonly Step[], { p50_ms, p95_ms }: AttemptSeries) =>
  steps.map(({ key, label, title }, index) => ({
    key,
    label,
    title,
    values: { p50: p50_ms[index] ?? null, p95: p95_ms[index] ?? null },
  }))
