import type { Overview } from '@parley/contract/console/overview'
import { useNavigate } from '@tanstack/react-router'
import { useHere } from '../../lib/session.ts'
import { type Step, stepsOf, sum } from '../../parts/chart-steps.ts'
import type { Bar } from '../../ui/bar-chart.tsx'
import { type Change, changeOf, elapsedOf, sumUntil } from './change.ts'

/** What all cards need: the period, the one before, and links to lists. */
export interface Scope {
  overview: Overview
  /** The same for the period before. Undefined while it loads. */
  past: Overview | undefined
  steps: Step[]
  /** The period as filters of a list. */
  period: string
  path(rest: string): string
  open(path: string): void
  stepOf(bar: Bar): Step
  /** The step of a bar as filters of a list. */
  span(bar: Bar): string
  compared(now: readonly number[], then: readonly number[] | undefined): Change | null
}

/** `readAt` is when the overview was read. */
export function useScope(overview: Overview, before: Overview | undefined, readAt: number): Scope {
  const { path } = useHere()
  const navigate = useNavigate()
  const steps = stepsOf(overview)
  const elapsed = elapsedOf(overview, readAt)
  const stepOf = (bar: Bar) => steps.find(({ key }) => key === bar.key) as Step
  return {
    overview,
    past: before?.period === overview.period ? before : undefined,
    steps,
    period: `from=${overview.from}&to=${overview.to}`,
    path,
    open: (rest) => void navigate({ href: path(rest) }),
    stepOf,
    span: (bar) => `from=${stepOf(bar).from}&to=${stepOf(bar).to}`,
    compared: (now, then) => changeOf(sum(now), then ? sumUntil(then, elapsed) : null),
  }
}
