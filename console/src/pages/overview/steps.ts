import type { Overview } from '@parley/contract/console/overview'
import { formatClock, formatShortDay, formatShortTime } from '../../lib/format.ts'

/** One time step of a chart. */
export interface Step {
  key: string
  label: string
  title: string
  from: string
  to: string
}

export function stepsOf({ steps, step_hours: hours }: Pick<Overview, 'steps' | 'step_hours'>): Step[] {
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
