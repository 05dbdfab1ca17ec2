export const checkResults = ['ok', 'warning', 'problem'] as const
export type CheckResult = (typeof checkResults)[number]

/** The result of one health check. */
export interface Finding {
  /** The name of the check. */
  check: string
  verdict: CheckResult
  /** The result in one line. */
  says: string
  /** The consequences, unless they are obvious. */
  means: string | null
  /** What to do; null if nothing has to be done. */
  advice: string | null
  /** One line for each affected account, key, endpoint and so on. */
  details: string[]
  /** Accounts that could be connected to fix it. */
  accounts: { appId: string; wabaId: string }[]
}

type Parts = Partial<Pick<Finding, 'means' | 'advice' | 'details' | 'accounts'>>

const finding =
  (verdict: CheckResult) =>
  (check: string, says: string, { means = null, advice = null, details = [], accounts = [] }: Parts = {}): Finding => ({
    check,
    verdict,
    says,
    means,
    advice,
    details: details.length > 10 ? [...details.slice(0, 9), `and ${details.length - 9} more`] : details,
    accounts,
  })

export const ok = finding('ok')
export const warning = finding('warning')
export const problem = finding('problem')

export const worstOf = (findings: readonly Finding[]): CheckResult =>
  checkResults.findLast((verdict) => findings.some((each) => each.verdict === verdict)) ?? 'ok'

/** `1 endpoint`, `2 endpoints`. */
export const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`
