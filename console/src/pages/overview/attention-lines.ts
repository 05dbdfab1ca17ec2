import type { Problem } from '@parley/contract/console/overview'

export interface AttentionLine {
  problem: Problem
  isResolved: boolean
}

/** A problem stays the same if it gets worse: a failing webhook that is disabled, a lower balance. */
export const keyOf = ({ kind, href, title }: Problem): string =>
  kind === 'webhook_failing' || kind === 'webhook_disabled' || kind === 'balance_low'
    ? href
    : `${kind} ${href} ${title}`

/**
 * The lines that are shown already, with what is known now, and the problems that are new. Lines are neither added nor removed
 * while a person looks at the page: what is below them would move.
 */
export function attentionLines(
  shown: readonly Problem[],
  current: readonly Problem[],
): { lines: AttentionLine[]; added: Problem[] } {
  const byKey = new Map(current.map((problem) => [keyOf(problem), problem]))
  const keys = new Set(shown.map(keyOf))
  return {
    lines: shown.map((before) => {
      const problem = byKey.get(keyOf(before))
      return { problem: problem ?? before, isResolved: problem === undefined }
    }),
    added: current.filter((problem) => !keys.has(keyOf(problem))),
  }
}
