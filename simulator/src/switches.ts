/** How the network behaves. Set for all, for a business number or for a phone; the nearest setting wins. */
export interface Switches {
  /** Every webhook update is posted twice. */
  duplicateWebhooks: boolean
  /** Updates are gathered for a moment and posted last first. */
  reorderWebhooks: boolean
  /** Webhooks wait this long before the first attempt. */
  delayWebhooksMs: number
  /** A message that will be read is never reported as delivered. */
  skipDelivered: boolean
  /** What inbound messages say about who wrote. */
  senderIdentity: SenderIdentity
  /** v23 statuses carry `conversation`; v24 statuses do not. */
  statusShape: 'v23' | 'v24'
  pricingModel: 'PMP' | 'CBP'
  /** Enforce the 24-hour customer-service window. */
  customerWindow: boolean
  /** Enforce one message per six seconds to the same phone, with a burst of 45. */
  pairLimit: boolean
  /** Enforce the number's messages per second. */
  throughputLimit: boolean
  /** Fetch media links before delivering, and fail the message when that fails. */
  fetchLinks: boolean
  sentAfterMs: number
  deliveredAfterMs: number
  /** null: the phone never opens a message by itself. */
  readAfterMs: number | null
  /** Every send call waits this long before it is answered. */
  answerAfterMs: number
  templateReviewMs: number
}

export type SenderIdentity = 'phone' | 'user_id_only' | 'empty_from' | 'user_id_in_from'

export const defaultSwitches: Switches = {
  duplicateWebhooks: false,
  reorderWebhooks: false,
  delayWebhooksMs: 0,
  skipDelivered: false,
  senderIdentity: 'phone',
  statusShape: 'v24',
  pricingModel: 'PMP',
  customerWindow: true,
  pairLimit: true,
  throughputLimit: true,
  fetchLinks: false,
  sentAfterMs: 0,
  deliveredAfterMs: 50,
  readAfterMs: 1000,
  answerAfterMs: 0,
  templateReviewMs: 2000,
}

type Switched = { switches: Partial<Switches> } | null | undefined

/** The setting that counts here: the phone's, else the number's, else the network's, else the default. */
export function switchesFor(world: { switches: Partial<Switches> }, number?: Switched, phone?: Switched): Switches {
  return { ...defaultSwitches, ...world.switches, ...number?.switches, ...phone?.switches }
}
