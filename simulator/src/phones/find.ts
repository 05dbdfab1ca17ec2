import type { Network } from '../network.ts'
import { ControlError } from '../shape.ts'
import { findNumber, type Message, type Phone, type PhoneNumber } from '../world.ts'

/** The business number an action is for: the one named, else the one last talked with, else the first there is. */
export function numberFor(network: Network, phone: Phone, to: string | undefined): PhoneNumber {
  if (to !== undefined) {
    const number = findNumber(network.world, to)
    if (!number) throw new ControlError(`to: ${to} is not a business number here.`, 'to', 404)
    return number
  }
  const last = latest(network, phone, () => true)
  const number = (last && network.world.numbers.get(last.numberId)) ?? [...network.world.numbers.values()][0]
  if (!number) throw new ControlError('There is no business number to write to.', 'to', 404)
  return number
}

/** The message an action is about: the one named, else the latest of this conversation that fits. */
export function messageFor(
  network: Network,
  phone: Phone,
  id: string | undefined,
  fits: (message: Message) => boolean,
  what: string,
): Message {
  const message = id === undefined ? latest(network, phone, fits) : network.world.messages.get(id)
  if (message?.waId !== phone.waId)
    throw new ControlError(
      id === undefined
        ? `There is no such message on this phone: it takes ${what}.`
        : `message: this phone has no message ${id}.`,
      'message',
      404,
    )
  if (!fits(message)) throw new ControlError(`message: ${message.id} is not ${what}.`, 'message')
  return message
}

export function numberOf(network: Network, message: Message): PhoneNumber {
  const number = network.world.numbers.get(message.numberId)
  if (!number) throw new ControlError('The business number of this message is gone.', 'message', 404)
  return number
}

function latest(network: Network, phone: Phone, fits: (message: Message) => boolean): Message | undefined {
  let found: Message | undefined
  for (const message of network.world.messages.values())
    if (message.waId === phone.waId && fits(message)) found = message
  return found
}
