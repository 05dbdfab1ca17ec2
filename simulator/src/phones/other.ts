import { userIdOf, waIdOf } from '../ids.ts'
import { statusError } from '../network/errors.ts'
import type { Network } from '../network.ts'
import { ControlError, number, object, optional, text } from '../shape.ts'
import type { Message, Phone, PhoneNumber } from '../world.ts'
import { action, to } from './action.ts'
import { messageFor, numberFor, numberOf } from './find.ts'
import { receiveMessage, sendSystemMessage } from './inbound.ts'

const target = { message: optional(text({ max: 300 })) }

/** Other actions: welcome requests, edits, deletions, number changes and unsupported types. */
export const otherActions = {
  welcome: action(object({ ...to }), (network, phone, input) => ({
    id: receiveMessage(network, phone, numberFor(network, phone, input.to), { type: 'request_welcome' }).id,
  })),

  unsupported: action(
    object({ ...to, kind: optional(text({ max: 60 })), code: optional(number({ min: 0, integer: true })) }),
    (network, phone, input) => ({
      id: sendUnsupported(network, phone, numberFor(network, phone, input.to), input.kind ?? 'unknown', input.code).id,
    }),
  ),

  /** A message of a type that does not exist yet. */
  invent: action(object({ ...to, type: text({ max: 60 }) }), (network, phone, input) => ({
    id: receiveMessage(network, phone, numberFor(network, phone, input.to), { type: input.type, content: {} }).id,
  })),

  edit: action(object({ ...target, text: text() }), (network, phone, input) => {
    const message = messageFromPhone(network, phone, input.message)
    const business = numberOf(network, message)
    if (!business.isOnBizApp) return { id: sendUnsupported(network, phone, business, 'edit').id }
    const content = {
      original_message_id: message.id,
      message: { context: { id: 'M0' }, type: 'text', text: { body: input.text } },
    }
    return { id: receiveMessage(network, phone, business, { type: 'edit', content }).id }
  }),

  delete: action(object({ ...target }), (network, phone, input) => {
    const message = messageFromPhone(network, phone, input.message)
    const business = numberOf(network, message)
    if (!business.isOnBizApp) return { id: sendUnsupported(network, phone, business, 'unknown').id }
    return {
      id: receiveMessage(network, phone, business, { type: 'revoke', content: { original_message_id: message.id } }).id,
    }
  }),

  /** Changes the number and the user ID. Every business in a conversation with this phone is notified. */
  changeNumber: action(
    object({
      newNumber: text({ pattern: /^\+?[1-9]\d{6,14}$/, description: 'a phone number, for example 491701234567' }),
    }),
    (network, phone, input) => {
      const { world } = network
      const next = waIdOf(input.newNumber)
      if (world.phones.has(next))
        throw new ControlError(`newNumber: a phone with the number ${next} already exists.`, 'newNumber', 409)
      const businesses = businessesOf(network, phone)
      const old = { waId: phone.waId, userId: phone.userId }
      world.phones.delete(old.waId)
      Object.assign(phone, { waId: next, userId: userIdOf(next) })
      world.phones.set(next, phone)
      const ids = businesses.map((business) =>
        sendSystemMessage(network, phone, business, old.waId, {
          type: 'user_changed_number',
          body: `User ${phone.name} changed from ${old.waId} to ${next}`,
          wa_id: next,
          user_id: phone.userId,
          previous_user_id: old.userId,
        }),
      )
      network.changed()
      return ids[0] === undefined ? {} : { id: ids[0] }
    },
  ),

  changeUserId: action(
    object({
      userId: text({
        pattern: /^[A-Z]{2}\.[A-Za-z0-9]{1,128}$/,
        description: 'a user ID, for example US.13491200000000000001',
      }),
    }),
    (network, phone, input) => {
      const before = phone.userId
      phone.userId = input.userId
      const ids = businessesOf(network, phone).map((business) =>
        sendSystemMessage(network, phone, business, null, {
          type: 'user_changed_user_id',
          body: `User ${phone.name} changed from ${before} to ${input.userId}`,
          user_id: input.userId,
          previous_user_id: before,
        }),
      )
      network.changed()
      return ids[0] === undefined ? {} : { id: ids[0] }
    },
  ),
}

function sendUnsupported(network: Network, phone: Phone, business: PhoneNumber, kind: string, code = 131051): Message {
  const { href: _, ...error } = statusError(code)
  const title = code === 131051 ? 'Message type unknown' : error.title
  return receiveMessage(network, phone, business, {
    type: 'unsupported',
    content: { type: kind },
    extra: { errors: [{ ...error, title, message: title }] },
  })
}

function messageFromPhone(network: Network, phone: Phone, id: string | undefined): Message {
  return messageFor(network, phone, id, (one) => one.direction === 'in', 'a message that it sent')
}

function businessesOf(network: Network, phone: Phone): PhoneNumber[] {
  const ids = new Set<string>()
  for (const message of network.world.messages.values()) if (message.waId === phone.waId) ids.add(message.numberId)
  return [...ids].flatMap((id) => network.world.numbers.get(id) ?? [])
}
