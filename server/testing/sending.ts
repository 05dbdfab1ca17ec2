import type { Message } from '@parley/contract/message'
import type { SimulatorOptions } from '@parley/simulator/start'
import { beforeAll } from 'vitest'
import { ingressPath } from '../src/domain/connections/apps.ts'
import type { Connection } from '../src/domain/connections/connections.ts'
import { giveCredits } from '../src/domain/credits/credits.ts'
import { newOutbox, type Outbox, type OutboxOptions } from '../src/domain/messages/sending/outbox.ts'
import type { ApiResponse } from './call.ts'
import { type SimulatedNetwork, type TestAccount, useSimulator } from './simulated-network.ts'
import type { TestServer } from './test-server.ts'
import { newWorkspace, type TestWorkspace } from './workspace.ts'

/** A workspace with credits and a connected account in the simulated network, which sends webhooks back. */
export interface TestShop {
  workspace: TestWorkspace
  account: TestAccount
  connection: Connection
  /** The ID of its only sender. */
  senderId: string
  send(body: object, headers?: Record<string, string>): Promise<ApiResponse>
  /** Sends a text and returns the message from the response. */
  sendText(to: string, more?: object): Promise<Message>
  /** Reads the message with its current status. */
  look(id: string): Promise<Message & { history: { status: string; occurred_at: string }[] }>
  /** The messages to a recipient that the network accepted. */
  taken(to: string): { ourId: string | null; content: unknown }[]
}

export interface Sending {
  network: SimulatedNetwork
  outbox: Outbox
  /** Another outbox, as a second process would have. */
  newOutbox(options?: OutboxOptions): Outbox
  newShop(credits?: number): Promise<TestShop>
  /** Sends all messages that are due, and waits until the webhooks of the network have been processed. */
  drain(): Promise<void>
}

/** Sets up sending for the tests of this file: a simulated network for the test server, and an outbox. */
export function useSending(server: TestServer, options?: SimulatorOptions): Sending {
  const network = useSimulator(server, options)
  const sending = {} as Sending
  beforeAll(() => {
    const open = (options?: OutboxOptions) => newOutbox(network.network, server.runtime.log, options)
    network.control.switches.set({ customerWindow: false, deliveredAfterMs: 0, readAfterMs: 0, throughputLimit: false })
    const outbox = open()
    Object.assign(sending, {
      network,
      outbox,
      newOutbox: open,
      newShop: (credits = 100) => newShop(server, network, credits),
      async drain() {
        await outbox.drain()
        await network.control.idle()
      },
    })
  })
  return sending
}

async function newShop(server: TestServer, network: SimulatedNetwork, credits: number): Promise<TestShop> {
  const { control } = network
  const workspace = await newWorkspace(server)
  const account = network.newAccount()
  account.addTemplate({ name: 'greeting' })
  const connection = await account.connect(workspace)
  const app = control.apps.list().find(({ secret }) => secret === account.appSecret)
  const url = server.url + ingressPath(connection.appId)
  await control.apps.setCallback(app?.id ?? '', { url, verifyToken: 'verify-me' })
  if (credits > 0) await giveCredits(server.db, server.clock, workspace.id, credits, 'test')
  const { body: senders } = await workspace.call('/v1/senders')
  const send: TestShop['send'] = (body, headers = {}) =>
    workspace.call('/v1/messages', { method: 'POST', body, headers })
  return {
    workspace,
    account,
    connection,
    senderId: (senders as { data: { id: string }[] }).data[0]?.id ?? '',
    send,
    async sendText(to, more = {}) {
      const { status, body } = await send({ to, type: 'text', text: { body: 'hello' }, ...more })
      if (status !== 202) throw new Error(`${status} ${JSON.stringify(body)}`)
      return body as Message
    },
    look: async (id) => (await workspace.call(`/v1/messages/${id}`)).body as Awaited<ReturnType<TestShop['look']>>,
    taken: (to) => takenBy(network, account.phoneNumber, to),
  }
}

function takenBy({ control }: SimulatedNetwork, from: string, to: string) {
  return control.phones
    .messages(to, from)
    .filter(({ direction }) => direction === 'out')
    .map(({ journey, content }) => ({ ourId: (journey as { opaque?: string } | null)?.opaque ?? null, content }))
}
