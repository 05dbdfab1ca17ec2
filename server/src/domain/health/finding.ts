export const checkResults = ['ok', 'warning', 'problem'] as const
export type CheckResult = (typeof checkResults)[number]

/** What one look at an installation found. */
export interface Finding {
  /** What was looked at, in a word or two. */
  check: string
  verdict: CheckResult
  /** What was found, in a line. */
  says: string
  /** What that leads to, where it is not plain. */
  means: string | null
  /** What to do; null where nothing has to be done. */
  advice: string | null
  /** Each thing concerned, a line each. */
  details: string[]
}

type Parts = Partial<Pick<Finding, 'means' | 'advice' | 'details'>>

const finding =
  (verdict: CheckResult) =>
  (check: string, says: string, { means = null, advice = null, details = [] }: Parts = {}): Finding => ({
    check,
    verdict,
    says,
    means,
    advice,
    details: details.length > 10 ? [...details.slice(0, 9), `and ${details.length - 9} more`] : details,
  })

export const ok = finding('ok')
export const warning = finding('warning')
export const problem = finding('problem')

/** The worst of them. */
export const worstOf = (findings: readonly Finding[]): CheckResult =>
  checkResults.findLast((verdict) => findings.some((each) => each.verdict === verdict)) ?? 'ok'

/** `1 endpoint`, `2 endpoints`. */
export const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`
