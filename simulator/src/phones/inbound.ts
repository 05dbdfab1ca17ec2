import { newWamid } from '../ids.ts'
import type { Json } from '../json.ts'
import type { Network } from '../network.ts'
import { ControlError } from '../shape.ts'
import { switchesFor } from '../switches.ts'
import { isBackedUp, notifyMessages } from '../webhooks/notify.ts'
import { conversationKey, type Message, type Phone, type PhoneNumber, storeMessage, throughputOf } from '../world.ts'
import { contactOf, senderOf } from './identity.ts'

export interface Inbound {
  type: string
  /** The object under the type's name; undefined for a type without one. */
  content?: unknown
  context?: Json | undefined
  /** Other members of the message, such as `errors` or `referral`. */
  extra?: Json
  /** The ID of the message that this one edits or deletes. */
  amends?: string
}

export function requireQueueSpace(network: Network, number: PhoneNumber): void {
  if (isBackedUp(network, number.wabaId))
    throw new ControlError(
      'The webhook queue is full. Respond to the queued webhooks with 200 and try again.',
      null,
      503,
    )
}

/** A message from a phone to a business: stores it, opens the 24-hour window and queues the webhooks. */
export function receiveMessage(network: Network, phone: Phone, number: PhoneNumber, inbound: Inbound): Message {
  requireQueueSpace(network, number)
  const { senderIdentity } = switchesFor(network.world, number, phone)
  const now = network.timers.now()
  const contextId = inbound.context?.id
  const message: Message = {
    id: newWamid(phone.waId),
    direction: 'in',
    numberId: number.id,
    waId: phone.waId,
    type: inbound.type,
    content: inbound.content ?? null,
    at: now.toISOString(),
    contextId: typeof contextId === 'string' ? contextId : null,
    journey: null,
    ...(inbound.amends === undefined ? {} : { amends: inbound.amends }),
  }
  storeMessage(network.world, message)
  network.world.lastInbound.set(conversationKey(number.id, phone.waId), message.at)
  network.limits.takeThroughput(number.id, throughputOf(number), now.getTime(), true)
  notifyMessages(network, number, phone, {
    contacts: [contactOf(phone, senderIdentity)],
    messages: [
      {
        ...(inbound.context ? { context: inbound.context } : {}),
        ...senderOf(phone, senderIdentity),
        id: message.id,
        timestamp: timestampOf(now),
        type: inbound.type,
        ...(inbound.content === undefined ? {} : { [inbound.type]: inbound.content }),
        ...inbound.extra,
      },
    ],
  })
  network.log.publish({ name: 'message', data: message })
  network.changed()
  return message
}

/** A system message about a phone. It has no contact and does not open the 24-hour window. */
export function sendSystemMessage(
  network: Network,
  phone: Phone,
  number: PhoneNumber,
  from: string | null,
  system: Json,
): string {
  const id = newWamid(phone.waId)
  notifyMessages(network, number, phone, {
    messages: [
      { ...(from === null ? {} : { from }), id, timestamp: timestampOf(network.timers.now()), type: 'system', system },
    ],
  })
  return id
}

export function timestampOf(at: Date): string {
  return String(Math.floor(at.getTime() / 1000))
}
