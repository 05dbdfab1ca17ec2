import type { Network } from '../network.ts'
import type { Action, ActionResult, InputOf } from './action.ts'
import { otherActions } from './other.ts'
import { phoneFor } from './phones.ts'
import { respondActions } from './respond.ts'
import { writeActions } from './write.ts'

/** Everything a phone can do, by name. */
export const phoneActions = { ...writeActions, ...respondActions, ...otherActions }

export type PhoneActionName = keyof typeof phoneActions
export type PhoneActionInput<N extends PhoneActionName> = InputOf<(typeof phoneActions)[N]>

export function act(network: Network, waId: string, name: PhoneActionName, input: unknown): ActionResult {
  // Each action reads its own input; the table only loses track of which belongs to which.
  const { shape, run } = phoneActions[name] as Action
  const read = shape(input, '')
  return run(network, phoneFor(network, waId), read)
}
