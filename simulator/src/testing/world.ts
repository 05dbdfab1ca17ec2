import { onTestFinished } from 'vitest'
import { ManualClock } from '../clock.ts'
import { newDemoSecrets } from '../datasets/demo-secrets.ts'
import type { Json } from '../json.ts'
import { type Simulator, type SimulatorOptions, startSimulator } from '../start.ts'
import { type Receiver, startReceiver } from './receiver.ts'

/** The secrets of every simulator that `newWorld` starts. */
export const demoSecrets = newDemoSecrets()
export const appId = '600000000000001'
export const wabaId = '102290000000001'
export const numberId = '106540000000001'
export const otherNumberId = '106540000000002'
export const businessNumber = '15550780001'
export const phone = '16505550123'

export interface TestWorld {
  simulator: Simulator
  control: Simulator['control']
  receiver: Receiver
  clock: ManualClock
  graph: (method: string, path: string, body?: unknown, token?: string) => Promise<{ status: number; body: Json }>
  send: (
    message: Json,
    number?: string,
  ) => Promise<{ status: number; body: Json; id: string; code: number; details: string }>
}

/** A demo network on a manual clock, with a receiver as its verified callback. */
export async function newWorld(options: SimulatorOptions = {}): Promise<TestWorld> {
  const clock = new ManualClock()
  const receiver = await startReceiver(demoSecrets.verifyToken)
  const simulator = await startSimulator({ port: 0, clock, demoSecrets, ...options })
  onTestFinished(async () => {
    await simulator.stop()
    receiver.close()
  })
  const { control } = simulator
  await control.apps.setCallback(control.apps.list()[0]?.id ?? appId, { url: receiver.url })
  const graph: TestWorld['graph'] = async (method, path, body, token = demoSecrets.accessToken) => {
    const response = await fetch(`${simulator.url}/v25.0/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Json }
  }
  const send: TestWorld['send'] = async (message, number = numberId) => {
    const response = await graph('POST', `${number}/messages`, {
      messaging_product: 'whatsapp',
      to: `+${phone}`,
      ...message,
    })
    await control.idle()
    const { messages, error } = response.body as {
      messages?: { id: string }[]
      error?: { code: number; error_data?: { details: string } }
    }
    return {
      ...response,
      id: messages?.[0]?.id ?? '',
      code: error?.code ?? 0,
      details: error?.error_data?.details ?? '',
    }
  }
  return { simulator, control, receiver, clock, graph, send }
}

export const hello: Json = { type: 'template', template: { name: 'hello_world', language: { code: 'en_US' } } }

export function text(body: string): Json {
  return { type: 'text', text: { body } }
}
