import type { HealthAction } from '@parley/contract/console/operator'

const checkResults = ['ok', 'warning', 'problem'] as const
export type CheckResult = (typeof checkResults)[number]

export interface Finding {
  check: string
  verdict: CheckResult
  /** The result in one line. */
  message: string
  /** The consequences, unless they are obvious. */
  effect: string | null
  /** What to do; null if nothing has to be done. */
  remedy: string | null
  /** One line for each affected account, key, endpoint and so on. */
  details: string[]
  /** The same for the console, which offers the `actions` as buttons. Left out: the same text. */
  consoleRemedy: string | null
  actions: HealthAction[]
}

type Parts = Partial<Pick<Finding, 'effect' | 'remedy' | 'consoleRemedy' | 'details' | 'actions'>>

/** Affected objects of a finding that are listed. */
const listedMax = 10

const finding =
  (verdict: CheckResult) =>
  (check: string, message: string, parts: Parts = {}): Finding => {
    const { effect = null, remedy = null, consoleRemedy = remedy, details = [], actions = [] } = parts
    const rest = details.length - listedMax + 1
    return {
      check,
      verdict,
      message,
      effect,
      remedy,
      consoleRemedy,
      details: details.length > listedMax ? [...details.slice(0, -rest), `and ${rest} more`] : details,
      actions: actions.slice(0, listedMax),
    }
  }

export const ok = finding('ok')
export const warning = finding('warning')
export const problem = finding('problem')

export const worstOf = (findings: readonly Finding[]): CheckResult =>
  checkResults.findLast((verdict) => findings.some((each) => each.verdict === verdict)) ?? 'ok'

export const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`
