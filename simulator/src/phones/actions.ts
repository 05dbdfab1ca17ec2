import type { Network } from '../network.ts'
import type { Action, ActionResult, InputOf } from './action.ts'
import { otherActions } from './other.ts'
import { phoneFor } from './phones.ts'
import { respondActions } from './respond.ts'
import { writeActions } from './write.ts'

/** All phone actions by name. */
export const phoneActions = { ...writeActions, ...respondActions, ...otherActions }

export type PhoneActionName = keyof typeof phoneActions
export type PhoneActionInput<N extends PhoneActionName> = InputOf<(typeof phoneActions)[N]>

export function runAction(network: Network, waId: string, name: PhoneActionName, input: unknown): ActionResult {
  // Each shape returns the input type of its own action, but the type of the table does not express that.
  const { shape, run } = phoneActions[name] as Action
  const parsed = shape(input, '')
  return run(network, phoneFor(network, waId), parsed)
}
