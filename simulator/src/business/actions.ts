import type { Network } from '../network.ts'
import type { Action, ActionResult, InputOf } from '../phones/action.ts'
import { ControlError } from '../shape.ts'
import { findNumber, type PhoneNumber } from '../world.ts'
import { agentActions } from './agent.ts'
import { echoActions } from './echo.ts'
import { sharingActions } from './sharing.ts'

/** What happens to a business number outside the API, by name: in the Business app, and by an agent. */
export const businessActions = { ...echoActions, ...agentActions, ...sharingActions }

export type BusinessActionName = keyof typeof businessActions
export type BusinessActionInput<N extends BusinessActionName> = InputOf<(typeof businessActions)[N]>

export function runBusinessAction(
  network: Network,
  id: string,
  name: BusinessActionName,
  input: unknown,
): ActionResult {
  // Each shape returns the input type of its own action, but the type of the table does not express that.
  const { shape, run } = businessActions[name] as Action<unknown, PhoneNumber>
  const parsed = shape(input, '')
  const number = findNumber(network.world, id)
  if (!number) throw new ControlError(`number: ${id} not found.`, 'number', 404)
  return run(network, number, parsed)
}
