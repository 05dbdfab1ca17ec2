import type { Overview } from '@parley/contract/console/overview'
import { formatPercent } from '../../lib/format.ts'
import { sum } from '../../parts/chart-steps.ts'

type Counts = readonly number[]

/** The sum of several series, step by step. */
export const added = (first: Counts, ...rest: Counts[]): number[] =>
  first.map((count, step) => count + sum(rest.map((counts) => counts[step] ?? 0)))

/** Messages of each step: sent and received, and the results of the sent messages. */
export const messageCounts = ({ messages: { queued, sent, delivered, read, failed, received } }: Overview) => ({
  out: added(queued, sent, delivered, read, failed),
  arrived: added(delivered, read),
  open: added(queued, sent),
  failed,
  received,
})

/** Null if there is nothing to divide. */
export const ratio = (part: Counts, ...others: Counts[]): number | null => {
  const all = sum(part) + sum(others.map(sum))
  return all === 0 ? null : sum(part) / all
}

export const percentage = (share: number | null): string => (share === null ? '–' : formatPercent(share))
