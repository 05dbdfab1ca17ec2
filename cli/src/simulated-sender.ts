import type { Workspace } from '@parley/server/domain/workspaces/workspaces'
import type { Call } from './command.ts'
import { listedSenders } from './send-message.ts'
import { callSimulator, simulatorPort } from './simulator-client.ts'

/** A sender of a workspace that is a number of the simulator, and a phone that can write to it. */
export interface SimulatedSender {
  id: string
  number: string
  numberId: string
  wabaId: string
  qualityRating: string
  phone: string
  request(method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown): Promise<unknown>
}

interface SimulatedNumber {
  id: string
  wabaId: string
  phoneNumber: string
  qualityRating: string
}

/** Null if the simulator is off, or has no number of the workspace. */
export async function findSimulatedSender(call: Call, workspace: Workspace): Promise<SimulatedSender | null> {
  const port = simulatorPort(call)
  if (port === 0) return null
  const request: SimulatedSender['request'] = (method, path, body) => callSimulator(port, method, path, body)
  const numbers = (await request('GET', '/numbers')) as SimulatedNumber[]
  const phones = (await request('GET', '/phones')) as { waId: string }[]
  for (const { id, phone_number, status } of await listedSenders(call, workspace)) {
    const digits = phone_number.replaceAll(/\D/g, '')
    const number = numbers.find((each) => each.phoneNumber.replaceAll(/\D/g, '') === digits)
    if (number && status === 'CONNECTED') {
      const { id: numberId, wabaId, qualityRating } = number
      return { id, number: digits, numberId, wabaId, qualityRating, phone: phones[0]?.waId ?? '16505550123', request }
    }
  }
  return null
}
