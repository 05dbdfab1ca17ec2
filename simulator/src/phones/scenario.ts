import type { Json } from '../json.ts'
import type { Network } from '../network.ts'
import { ControlError } from '../shape.ts'
import type { Message, Phone, PhoneNumber } from '../world.ts'
import type { PhoneActionName } from './actions.ts'
import { newRecordedActions } from './recorded-action.ts'
import { redactText } from './redact.ts'
import { shownText } from './shown-text.ts'

/** A conversation as a test plays it: what the person does, and what the business is expected to send. */
export interface Scenario {
  version: 1
  /** Texts, names and files are replaced, so texts of the business cannot be compared. */
  redacted?: true
  steps: Step[]
}

interface StepStart {
  /** Only on steps that a later step refers to with `message` or `replyTo`. */
  id?: string
  /** Since the step before. */
  after_ms: number
}
type PersonStep = { from: 'person'; action: PhoneActionName; input: Json }
type BusinessStep = { from: 'business'; expect: { type: string; text?: string } }
type Step = StepStart & (PersonStep | BusinessStep)

/** Records the chat of a phone with a business number. What the phone does not show is left out, as is what people of the business wrote. */
export function recordScenario(network: Network, phone: Phone, number: PhoneNumber, withContents: boolean): Scenario {
  const chat = [...network.world.messages.values()].filter(
    ({ waId, numberId }) => waId === phone.waId && numberId === number.id,
  )
  const recorded = chat.filter(isRecorded)
  if (recorded.length === 0)
    throw new ControlError(`${phone.waId} has no messages with ${number.phoneNumber} to record.`, null, 404)
  const actionOf = newRecordedActions(network, chat, withContents)
  const actions = recorded.map((message) => (message.direction === 'in' ? actionOf(message) : undefined))
  const referenced = new Set(actions.flatMap((one) => [one?.input.message, one?.input.replyTo]))
  const names = new Map<unknown, string>(
    recorded.filter(({ id }) => referenced.has(id)).map(({ id }, index) => [id, `m${index + 1}`]),
  )
  const steps = recorded.map((message, index): Step => {
    const before = recorded[index - 1]
    const start = {
      ...named('id', names.get(message.id)),
      after_ms: before ? Math.max(0, Date.parse(message.at) - Date.parse(before.at)) : 0,
    }
    const done = actions[index]
    if (done) {
      const { message: about, replyTo, ...rest } = done.input
      const references = { ...named('message', names.get(about)), ...named('replyTo', names.get(replyTo)) }
      return { from: 'person', ...start, action: done.action, input: { ...references, ...rest } }
    }
    const text = shownText(network.world, number, message)
    const expected = text === null ? {} : { text: withContents ? text : redactText(text) }
    return { from: 'business', ...start, expect: { type: message.type, ...expected } }
  })
  return { version: 1, ...(withContents ? {} : { redacted: true }), steps }
}

const named = (key: string, name: string | undefined): Json => (name === undefined ? {} : { [key]: name })

const shownStates = ['delivered', 'read', 'played']

const isRecorded = ({ direction, source, journey }: Message): boolean =>
  direction === 'in' || (source === undefined && shownStates.includes(journey?.state ?? ''))
