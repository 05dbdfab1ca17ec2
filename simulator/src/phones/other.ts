import { userIdOf, waIdOf } from '../ids.ts'
import { statusError } from '../network/errors.ts'
import type { Network } from '../network.ts'
import { ControlError, json, number, object, optional, text } from '../shape.ts'
import type { Message, Phone, PhoneNumber } from '../world.ts'
import { action, target, to } from './action.ts'
import { deletionOf, editOf, isDeletable, isEditable } from './amend.ts'
import { inChat, messageFor, numberFor, numberOf } from './find.ts'
import { type Inbound, receiveMessage, sendSystemMessage } from './inbound.ts'

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
  invent: action(
    object({ ...to, type: text({ max: 60 }), content: optional(json) }),
    (network, phone, { to: business, type, content = {} }) => ({
      id: receiveMessage(network, phone, numberFor(network, phone, business), { type, content }).id,
    }),
  ),

  edit: action(object({ ...to, ...target, text: text() }), (network, phone, input) => {
    const isInChat = inChat(network, phone, input.to)
    const canEdit = (one: Message) => one.direction === 'in' && isEditable(one) && isInChat(one)
    const message = messageFor(network, phone, input.message, canEdit, 'a text or a file that it sent')
    const edit = editOf(network, message, input.text)
    return { id: amend(network, phone, message, { type: 'edit', content: edit.webhook }, 'edit', edit.record) }
  }),

  delete: action(object({ ...to, ...target }), (network, phone, input) => {
    const isInChat = inChat(network, phone, input.to)
    const canDelete = (one: Message) => one.direction === 'in' && isDeletable(one) && isInChat(one)
    const message = messageFor(network, phone, input.message, canDelete, 'a message that it sent')
    const deletion = deletionOf(network, message)
    return {
      id: amend(network, phone, message, { type: 'revoke', content: deletion.webhook }, 'unknown', deletion.record),
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

function sendUnsupported(network: Network, phone: Phone, business: PhoneNumber, kind: string, code?: number): Message {
  return receiveMessage(network, phone, business, unsupported(kind, code))
}

function unsupported(kind: string, code = 131051): Inbound {
  const { href: _, ...error } = statusError(code)
  const title = code === 131051 ? 'Message type unknown' : error.title
  return {
    type: 'unsupported',
    content: { type: kind },
    extra: { errors: [{ ...error, title, message: title }] },
  }
}

/** Sends an edit or a deletion. On a number that is not in the Business app it arrives as `unsupported`. */
function amend(
  network: Network,
  phone: Phone,
  message: Message,
  inbound: Inbound,
  unsupportedKind: string,
  record: () => void,
): string {
  const business = numberOf(network, message)
  const sent = business.isOnBizApp ? inbound : unsupported(unsupportedKind)
  const { id } = receiveMessage(network, phone, business, { ...sent, amends: message.id })
  record()
  return id
}

function businessesOf(network: Network, phone: Phone): PhoneNumber[] {
  const ids = new Set<string>()
  for (const message of network.world.messages.values()) if (message.waId === phone.waId) ids.add(message.numberId)
  return [...ids].flatMap((id) => network.world.numbers.get(id) ?? [])
}
