import { knownError } from './error-catalogue.ts'

/**
 * Recipients that make the network misbehave on purpose: 1555, one digit for the kind, six for the code.
 *
 *   1555 0 CCCCCC   accepted, then `failed` with code CCCCCC
 *   1555 1 CCCCCC   the call is refused with code CCCCCC, every time
 *   1555 2 CCCCCC   refused once, accepted on the second try
 *   1555 3 CCCCCC   refused twice, accepted on the third try
 *   1555 9 00000N   a mishap of the list below
 *
 * A code the network does not know makes an ordinary phone.
 */
export type TestNumber =
  | { kind: 'fails'; code: number }
  | { kind: 'refused'; code: number; times: number }
  | { kind: 'mishap'; mishap: SimulatedFailure }

export type SimulatedFailure =
  | 'hangs_after_sending'
  | 'cut_after_sending'
  | 'cut_before_sending'
  | 'html_500'
  | 'html_500_after_sending'
  | 'status_before_answer'
  | 'slow_answer'
  | 'other_wa_id'
  | 'never_delivered'
  | 'never_read'
  | 'read_without_delivered'
  | 'held_then_sent'
  | 'held_then_dropped'

export const simulatedFailures: [suffix: number, mishap: SimulatedFailure, meaning: string][] = [
  [1, 'hangs_after_sending', 'the message is sent, the call never answers'],
  [2, 'cut_after_sending', 'the message is sent, the connection is cut without an answer'],
  [3, 'cut_before_sending', 'nothing is sent, the connection is cut without an answer'],
  [4, 'html_500', 'nothing is sent, HTTP 500 with an HTML page'],
  [5, 'html_500_after_sending', 'the message is sent, HTTP 500 with an HTML page'],
  [6, 'status_before_answer', 'the `sent` status is posted and taken before the call is answered'],
  [7, 'slow_answer', 'the message is sent, the answer comes after five seconds'],
  [8, 'other_wa_id', 'the answer and the webhooks name another wa_id than the one dialled'],
  [9, 'never_delivered', '`sent` and nothing more'],
  [10, 'never_read', '`sent` and `delivered`, never `read`'],
  [11, 'read_without_delivered', '`sent` and `read`, no `delivered`'],
  [12, 'held_then_sent', 'a template is `held_for_quality_assessment`, then goes its way'],
  [13, 'held_then_dropped', 'a template is `held_for_quality_assessment`, then `failed` with 132015'],
]

export function testNumberOf(waId: string): TestNumber | undefined {
  const match = /^1555([01239])(\d{6})$/.exec(waId)
  if (!match) return undefined
  const code = Number(match[2])
  if (match[1] === '9') {
    const row = simulatedFailures.find(([suffix]) => suffix === code)
    return row && { kind: 'mishap', mishap: row[1] }
  }
  if (!knownError(code)) return undefined
  // 15550000001 and its like are everybody's test numbers, and no small code is ever reported late.
  if (match[1] === '0' && code < 100_000) return undefined
  if (match[1] === '0') return { kind: 'fails', code }
  return { kind: 'refused', code, times: match[1] === '1' ? Number.POSITIVE_INFINITY : Number(match[1]) - 1 }
}
