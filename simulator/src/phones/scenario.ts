import type { Network } from '../network.ts'
import { ControlError } from '../shape.ts'
import type { Message, Phone, PhoneNumber } from '../world.ts'
import type { PhoneActionName } from './actions.ts'
import { newRecordedActions } from './recorded-action.ts'
import { newScenario, type Scenario } from './scenario-file.ts'
import { shownText } from './shown-text.ts'

/** Records the chat of a phone with a business number. What the phone does not show is left out, as is what people of the business wrote. */
export function recordScenario(
  network: Network,
  phone: Phone,
  number: PhoneNumber,
  withContents: boolean,
): Scenario<PhoneActionName> {
  const chat = [...network.world.messages.values()].filter(
    ({ waId, numberId }) => waId === phone.waId && numberId === number.id,
  )
  const recorded = chat.filter(isRecorded)
  if (recorded.length === 0)
    throw new ControlError(`${phone.waId} has no messages with ${number.phoneNumber} to record.`, null, 404)
  const actionOf = newRecordedActions(network, chat, withContents)
  const messages = recorded.map((message) => {
    const { id, at, type, direction } = message
    return direction === 'in'
      ? { id, at, from: 'person' as const, ...actionOf(message) }
      : { id, at, from: 'business' as const, type, text: shownText(network.world, number, message) }
  })
  return newScenario(messages, withContents)
}

const shownStates = ['delivered', 'read', 'played']

const isRecorded = ({ direction, source, journey }: Message): boolean =>
  direction === 'in' || (source === undefined && shownStates.includes(journey?.state ?? ''))
