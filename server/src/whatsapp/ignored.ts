/** Something in a webhook that leads to no event, and why. The ingress answers 200 all the same and may log it. */
export interface Ignored {
  kind: 'ignored'
  reason: IgnoredReason
  wabaId: string | null
  phoneNumberId: string | null
  /** The network's own word for it: a field, a type or a status. */
  what: string | null
}

export type IgnoredReason =
  | 'not_whatsapp'
  | 'malformed'
  | 'no_number'
  | 'no_message_id'
  | 'system'
  | 'request_welcome'
  | 'live_location'
  | 'not_inbound'
  | 'unknown_field'
  | 'unknown_status'
  | 'payment_status'

/** Which number a piece of a webhook speaks of, and of which account. The number is what to route by. */
export interface Place {
  wabaId: string | null
  phoneNumberId: string
}

export function ignored(
  reason: IgnoredReason,
  where: { wabaId?: string | null; phoneNumberId?: string | null } = {},
  what: string | null = null,
): Ignored {
  return { kind: 'ignored', reason, wabaId: where.wabaId ?? null, phoneNumberId: where.phoneNumberId ?? null, what }
}
