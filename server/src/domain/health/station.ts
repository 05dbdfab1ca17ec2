import type { WhyVerdict } from '@parley/contract/console/why'
import type { Finding } from './finding.ts'

/** One step on the way of a message, an event or a webhook, and whether it is as it should be. */
export interface Station {
  station: string
  verdict: WhyVerdict
  /** When it happened, or will. */
  at: Date | null
  message: string
  /** What to do; null if nothing has to be done. */
  remedy: string | null
  /** The same for the console. */
  consoleRemedy: string | null
  /** For operators: URLs, IDs and what the network said. */
  details: readonly string[]
  /** What `parley why --fix` does about it. */
  fix: Fix | null
  /** Worth a warning, but hardly the cause. */
  isAdvice: boolean
}

/** Repairs that cannot make anything worse. */
export type Fix =
  /** The app gets the webhooks of the account. */
  | { kind: 'subscribe_app'; connectionId: string }
  /** The app gets the webhooks of all fields that Parley reads. */
  | { kind: 'subscribe_fields'; connectionId: string }
  | { kind: 'sync'; connectionId: string }

type Parts = Partial<Omit<Station, 'station' | 'verdict' | 'message'>>

const newStation =
  (verdict: WhyVerdict) =>
  (station: string, message: string, parts: Parts = {}): Station => {
    const { at = null, remedy = null, consoleRemedy = remedy, details = [], fix = null, isAdvice = false } = parts
    return { station, verdict, at, message, remedy, consoleRemedy, details, fix, isAdvice }
  }

export const fine = newStation('ok')
export const waiting = newStation('waiting')
export const unseen = newStation('unknown')
export const dubious = newStation('warning')
export const wrong = newStation('problem')

export const stationOf = (
  { check, verdict, ...finding }: Finding,
  { fix = null, isAdvice = false }: Pick<Parts, 'fix' | 'isAdvice'> = {},
): Station => ({
  station: check,
  verdict,
  at: null,
  message: finding.message,
  remedy: finding.remedy,
  consoleRemedy: finding.consoleRemedy,
  details: finding.effect ? [...finding.details, finding.effect] : finding.details,
  fix: verdict === 'ok' ? null : fix,
  isAdvice,
})
