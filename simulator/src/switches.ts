/** How the network behaves. Can be set globally, per business number and per phone; the most specific setting wins. */
export interface Switches {
  /** Every webhook update is posted twice. */
  duplicateWebhooks: boolean
  /** Updates are collected for 200 ms and posted in reverse order. */
  reorderWebhooks: boolean
  /** Delay before the first attempt. */
  delayWebhooksMs: number
  /** A message that will be read is never reported as delivered. */
  skipDelivered: boolean
  /** How inbound messages identify the sender. */
  senderIdentity: SenderIdentity
  /** v23 statuses carry `conversation`; v24 statuses do not. */
  statusShape: 'v23' | 'v24'
  pricingModel: 'PMP' | 'CBP'
  /** How many service messages of a number are free in a calendar month. */
  freeServiceMessages: number
  /** Enforce the 24-hour customer-service window. */
  customerWindow: boolean
  /** Enforce one message per six seconds to the same phone, with a burst of 45. */
  pairLimit: boolean
  /** Enforce the number's messages per second. */
  throughputLimit: boolean
  /** Fetch media links before delivery; the message fails if a link cannot be fetched. */
  fetchLinks: boolean
  sentAfterMs: number
  deliveredAfterMs: number
  /** null: messages are not read automatically. */
  readAfterMs: number | null
  /** Delay before the response to a send request. */
  respondAfterMs: number
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
  freeServiceMessages: 1000,
  customerWindow: true,
  pairLimit: true,
  throughputLimit: true,
  fetchLinks: false,
  sentAfterMs: 0,
  deliveredAfterMs: 50,
  readAfterMs: 1000,
  respondAfterMs: 0,
  templateReviewMs: 2000,
}

type HasSwitches = { switches: Partial<Switches> } | null | undefined

/** The effective switches: the phone's, else the number's, else the global ones, else the defaults. */
export function switchesFor(
  world: { switches: Partial<Switches> },
  number?: HasSwitches,
  phone?: HasSwitches,
): Switches {
  return { ...defaultSwitches, ...world.switches, ...number?.switches, ...phone?.switches }
}
