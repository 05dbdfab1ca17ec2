/** A part of a webhook that produces no event, and why. The ingress still responds with 200 and may log it. */
export interface Ignored {
  kind: 'ignored'
  reason: IgnoredReason
  wabaId: string | null
  phoneNumberId: string | null
  /** WhatsApp's name for it: a field, a type or a status. */
  what: string | null
}

export type IgnoredReason =
  | 'not_whatsapp'
  | 'malformed'
  | 'no_number'
  | 'no_message_id'
  | 'system'
  | 'live_location'
  | 'not_inbound'
  | 'unknown_field'
  | 'unknown_status'
  | 'payment_status'

/** The number and the account that a part of a webhook belongs to. It is routed by the number. */
export interface WebhookSource {
  wabaId: string | null
  phoneNumberId: string
}

export function ignored(
  reason: IgnoredReason,
  source: { wabaId?: string | null; phoneNumberId?: string | null } = {},
  what: string | null = null,
): Ignored {
  return { kind: 'ignored', reason, wabaId: source.wabaId ?? null, phoneNumberId: source.phoneNumberId ?? null, what }
}
