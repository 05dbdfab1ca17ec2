import { newWamid } from '../ids.ts'
import type { Json } from '../json.ts'
import type { Network } from '../network.ts'
import { ControlError } from '../shape.ts'
import { switchesFor } from '../switches.ts'
import { isBackedUp, notifyMessages } from '../webhooks/notify.ts'
import { conversationKey, type Message, type Phone, type PhoneNumber, remember } from '../world.ts'
import { contactOf, senderOf } from './identity.ts'

export interface Inbound {
  type: string
  /** What stands under the type's name; nothing for a type that has no object of its own. */
  content?: unknown
  context?: Json | undefined
  /** Other members of the message, such as `errors` or `referral`. */
  extra?: Json
}

/** A phone writes to a business: the message enters the conversation, opens the 24-hour window and goes out to the apps. */
export function receiveFrom(network: Network, phone: Phone, number: PhoneNumber, inbound: Inbound): Message {
  if (isBackedUp(network, number.wabaId))
    throw new ControlError('Too many webhooks wait to be taken; answer them first.', null, 503)
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
  }
  remember(network.world, message)
  network.world.lastInbound.set(conversationKey(number.id, phone.waId), message.at)
  network.limits.takeThroughput(number.id, number.throughputMps, now.getTime(), true)
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
  network.log.tell({ name: 'message', data: message })
  network.changed()
  return message
}

/** The network itself speaks about a phone; no contact is named and no window opens. */
export function announceSystem(
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

function timestampOf(at: Date): string {
  return String(Math.floor(at.getTime() / 1000))
}
