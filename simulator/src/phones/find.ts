import type { Network } from '../network.ts'
import { ControlError } from '../shape.ts'
import { findNumber, type Message, type Phone, type PhoneNumber } from '../world.ts'

/** The business number of an action: the given one, else that of the latest message, else the first one. */
export function numberFor(network: Network, phone: Phone, to: string | undefined): PhoneNumber {
  if (to !== undefined) {
    const number = findNumber(network.world, to)
    if (!number) throw new ControlError(`to: business number ${to} not found.`, 'to', 404)
    return number
  }
  const last = latest(network, phone, () => true)
  const number = (last && network.world.numbers.get(last.numberId)) ?? [...network.world.numbers.values()][0]
  if (!number) throw new ControlError('There is no business number. Create one with POST /control/numbers.', 'to', 404)
  return number
}

/** The message of an action: the given one, else the latest matching one on this phone. */
export function messageFor(
  network: Network,
  phone: Phone,
  id: string | undefined,
  matches: (message: Message) => boolean,
  what: string,
): Message {
  const message = id === undefined ? latest(network, phone, matches) : network.world.messages.get(id)
  if (message?.waId !== phone.waId)
    throw new ControlError(
      id === undefined ? `This phone does not have ${what}.` : `message: ${id} not found on this phone.`,
      'message',
      404,
    )
  if (!matches(message)) throw new ControlError(`message: ${message.id} is not ${what}.`, 'message')
  return message
}

/** Whether a message belongs to the chat with this business number, or to any chat if none is given. */
export function inChat(network: Network, phone: Phone, to: string | undefined): (message: Message) => boolean {
  const number = to === undefined ? undefined : numberFor(network, phone, to)
  return (message) => number === undefined || message.numberId === number.id
}

export function numberOf(network: Network, message: Message): PhoneNumber {
  const number = network.world.numbers.get(message.numberId)
  if (!number) throw new ControlError('The business number of this message was deleted.', 'message', 404)
  return number
}

function latest(network: Network, phone: Phone, matches: (message: Message) => boolean): Message | undefined {
  let found: Message | undefined
  for (const message of network.world.messages.values())
    if (message.waId === phone.waId && matches(message)) found = message
  return found
}
