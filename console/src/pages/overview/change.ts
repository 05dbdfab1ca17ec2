import { formatNumber, formatPercent } from '../../lib/format.ts'

/** How a figure differs from the one of the period before. */
export interface Change {
  direction: 'up' | 'down' | 'same'
  /** Without a sign: "12%", "3 times", "0.4 pt". */
  amount: string
}

/** Null if there is nothing to compare with. */
export function changeOf(now: number | null, before: number | null): Change | null {
  if (now === null || before === null || before === 0) return null
  const ratio = now / before
  if (Math.abs(ratio - 1) < 0.005) return { direction: 'same', amount: '' }
  if (ratio >= 3) return { direction: 'up', amount: `${formatNumber(Math.round(ratio))} times` }
  return { direction: ratio > 1 ? 'up' : 'down', amount: formatPercent(Math.abs(ratio - 1)) }
}

/** Of two ratios between 0 and 1, in percentage points. */
export function pointsOf(now: number | null, before: number | null): Change | null {
  if (now === null || before === null) return null
  const tenths = Math.round((now - before) * 1000)
  if (tenths === 0) return { direction: 'same', amount: '' }
  return { direction: tenths > 0 ? 'up' : 'down', amount: `${formatNumber(Math.abs(tenths) / 10)} pt` }
}

/** The share of the last step that is over. */
export function elapsedOf(
  { steps, step_hours }: { steps: readonly string[]; step_hours: number },
  now: number,
): number {
  const began = Date.parse(steps.at(-1) ?? '')
  return Math.min(1, Math.max(0, (now - began) / (step_hours * 3_600_000)))
}

/** The sum of a period up to the same moment as the current one: of its last step, only this share counts. */
export const sumUntil = (counts: readonly number[], elapsed: number): number =>
  counts.reduce((sum, count, index) => sum + (index === counts.length - 1 ? count * elapsed : count), 0)
