import { knownError } from './error-catalogue.ts'

/**
 * Magic numbers: recipients that make the network fail on purpose. 1555, one digit for the kind, six for the code.
 *
 *   1555 0 CCCCCC   accepted, then `failed` with code CCCCCC
 *   1555 1 CCCCCC   every request fails with code CCCCCC
 *   1555 2 CCCCCC   the first request fails, the second is accepted
 *   1555 3 CCCCCC   two requests fail, the third is accepted
 *   1555 9 00000N   a simulated failure from the list below
 *
 * A number with an unknown code is an ordinary phone.
 */
export type TestNumber =
  | { kind: 'fails'; code: number }
  | { kind: 'refused'; code: number; times: number }
  | { kind: 'failure'; failure: SimulatedFailure }

export type SimulatedFailure =
  | 'hangs_after_sending'
  | 'cut_after_sending'
  | 'cut_before_sending'
  | 'html_500'
  | 'html_500_after_sending'
  | 'status_before_response'
  | 'slow_response'
  | 'other_wa_id'
  | 'never_delivered'
  | 'never_read'
  | 'read_without_delivered'
  | 'held_then_sent'
  | 'held_then_dropped'

export const simulatedFailures: [suffix: number, failure: SimulatedFailure, meaning: string][] = [
  [1, 'hangs_after_sending', 'the message is sent, no response'],
  [2, 'cut_after_sending', 'the message is sent, the connection is closed without a response'],
  [3, 'cut_before_sending', 'the message is not sent, the connection is closed without a response'],
  [4, 'html_500', 'the message is not sent, HTTP 500 with an HTML page'],
  [5, 'html_500_after_sending', 'the message is sent, HTTP 500 with an HTML page'],
  [6, 'status_before_response', 'the `sent` webhook is accepted before the API response is sent'],
  [7, 'slow_response', 'the message is sent, the response takes five seconds'],
  [8, 'other_wa_id', 'the response and the webhooks have another wa_id than the number in `to`'],
  [9, 'never_delivered', '`sent`, never `delivered`'],
  [10, 'never_read', '`sent` and `delivered`, never `read`'],
  [11, 'read_without_delivered', '`sent` and `read`, no `delivered`'],
  [12, 'held_then_sent', 'a template is `held_for_quality_assessment`, then delivered normally'],
  [13, 'held_then_dropped', 'a template is `held_for_quality_assessment`, then `failed` with 132015'],
]

export function testNumberOf(waId: string): TestNumber | undefined {
  const match = /^1555([01239])(\d{6})$/.exec(waId)
  if (!match) return undefined
  const code = Number(match[2])
  if (match[1] === '9') {
    const row = simulatedFailures.find(([suffix]) => suffix === code)
    return row && { kind: 'failure', failure: row[1] }
  }
  if (!knownError(code)) return undefined
  // Numbers such as 15550000001 are common in tests, and codes below 100000 are never reported in a status.
  if (match[1] === '0' && code < 100_000) return undefined
  if (match[1] === '0') return { kind: 'fails', code }
  return { kind: 'refused', code, times: match[1] === '1' ? Number.POSITIVE_INFINITY : Number(match[1]) - 1 }
}
