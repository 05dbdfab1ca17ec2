import type { Json } from '../json.ts'
import { redactText } from './redact.ts'

/** A conversation as a test plays it: what the person does, and what the business is expected to send. */
export interface Scenario<Action extends string = string> {
  version: 1
  /** Texts, names and files are replaced, so texts of the business cannot be compared. */
  redacted?: true
  steps: Step<Action>[]
}

interface StepStart {
  /** Only on steps that a later step refers to with `message` or `replyTo`. */
  id?: string
  /** Since the step before. */
  after_ms: number
}
type PersonStep<Action> = { from: 'person'; action: Action; input: Json }
type BusinessStep = { from: 'business'; expect: { type: string; text?: string } }
type Step<Action> = StepStart & (PersonStep<Action> | BusinessStep)

/** A message of a chat: an action of the person, with redacted input if need be, or what the business sent. */
export type ScenarioMessage<Action extends string> = { id: string; at: string } & (
  | { from: 'person'; action: Action; input: Json }
  | { from: 'business'; type: string; text: string | null }
)

/** The scenario of a chat, oldest message first. `message` and `replyTo` in the input of actions are IDs of messages. */
export function newScenario<Action extends string>(
  chat: readonly ScenarioMessage<Action>[],
  withContents: boolean,
): Scenario<Action> {
  const referenced = new Set(
    chat.flatMap((one) => (one.from === 'person' ? [one.input.message, one.input.replyTo] : [])),
  )
  const names = new Map<unknown, string>(
    chat.filter(({ id }) => referenced.has(id)).map(({ id }, index) => [id, `m${index + 1}`]),
  )
  const steps = chat.map((one, index): Step<Action> => {
    const before = chat[index - 1]
    const start = {
      ...named('id', names.get(one.id)),
      after_ms: before ? Math.max(0, Date.parse(one.at) - Date.parse(before.at)) : 0,
    }
    if (one.from === 'person') {
      const { message, replyTo, ...rest } = one.input
      const references = { ...named('message', names.get(message)), ...named('replyTo', names.get(replyTo)) }
      return { from: 'person', ...start, action: one.action, input: { ...references, ...rest } }
    }
    const { type, text } = one
    const expected = text === null ? {} : { text: withContents ? text : redactText(text) }
    return { from: 'business', ...start, expect: { type, ...expected } }
  })
  return { version: 1, ...(withContents ? {} : { redacted: true }), steps }
}

const named = (key: string, name: string | undefined): Json => (name === undefined ? {} : { [key]: name })
