import { type Simulator, type SimulatorOptions, startSimulator } from '@parley/simulator/start'
import { afterAll, beforeAll } from 'vitest'
import { createApp } from '../src/domain/connections/apps.ts'
import { type Connection, createConnection } from '../src/domain/connections/connections.ts'
import { type Network, newNetwork } from '../src/domain/connections/network.ts'
import { drainSyncs } from '../src/domain/connections/sync.ts'
import { GraphClient } from '../src/whatsapp/graph/client.ts'
import type { TestServer } from './test-server.ts'
import type { TestWorkspace } from './workspace.ts'

type Control = Simulator['control']
type NewTemplate = Omit<Parameters<Control['templates']['create']>[0], 'wabaId'>

/** The simulated network, and the service's client for it. */
export interface SimulatedNetwork {
  simulator: Simulator
  control: Control
  network: Network
  /** Runs all syncs that are due. */
  drain(): Promise<number>
  /** A new account in the simulator, with one number and no templates. */
  newAccount(): TestAccount
  /** The demo account of the simulator. */
  demoAccount(): TestAccount
}

export interface TestAccount {
  wabaId: string
  appSecret: string
  token: string
  phoneNumber: string
  addTemplate(template: Partial<NewTemplate> & { name: string }): ReturnType<Control['templates']['create']>
  /** Ends after the network's notice about it has arrived. */
  removeTemplate(name: string): Promise<void>
  /** Connects it to a workspace, through a new app. */
  connect(workspace: Pick<TestWorkspace, 'id'>): Promise<Connection>
  /** How many requests for this account the network got, since the account was created. */
  calls(edge: 'phone_numbers' | 'message_templates' | 'subscribed_apps'): number
}

/** Starts a simulator for the tests of this file. */
export function useSimulator(server: TestServer, options: SimulatorOptions = {}): SimulatedNetwork {
  const opened = {} as SimulatedNetwork
  let close = async () => {}
  beforeAll(async () => {
    const simulator = await startSimulator({ port: 0, dataset: 'demo', maxLogEntries: 100_000, ...options })
    const client = new GraphClient({ productVersion: 'test', responseTimeoutMs: 30_000, deadlineMs: 60_000 })
    const { db, clock, secretKeys } = server
    const network = newNetwork({ db, clock, secretKeys, client })
    close = async () => {
      await client.close()
      await simulator.stop()
    }
    Object.assign(opened, {
      simulator,
      control: simulator.control,
      network,
      drain: () => drainSyncs(network, server.runtime.log),
      newAccount: () => newAccount(server, network, simulator),
      demoAccount: () => accountOf(server, network, simulator, demoOf(simulator)),
    })
  })
  afterAll(() => close())
  return opened
}

const demoOf = ({ control }: Simulator) => ({
  appSecret: control.apps.list()[0]?.secret ?? '',
  wabaId: '102290000000001',
  token: control.tokens.list()[0]?.token ?? '',
  phoneNumber: '15550780001',
})

let accounts = 0

function newAccount(server: TestServer, network: Network, simulator: Simulator): TestAccount {
  const { control } = simulator
  const app = control.apps.create({})
  const waba = control.wabas.create({ appIds: [] })
  const phoneNumber = String(15_551_000_000 + ++accounts)
  control.numbers.create({ wabaId: waba.id, phoneNumber, verifiedName: `Shop ${accounts}` })
  const { token } = control.tokens.create({ appId: app.id, wabaIds: [waba.id] })
  return accountOf(server, network, simulator, { appSecret: app.secret, wabaId: waba.id, token, phoneNumber })
}

function accountOf(
  server: TestServer,
  network: Network,
  { url, control }: Simulator,
  account: Pick<TestAccount, 'appSecret' | 'wabaId' | 'token' | 'phoneNumber'>,
): TestAccount {
  const { appSecret, wabaId, token } = account
  const networkLog = () => control.log.list({ limit: 1_000_000 })
  const since = networkLog().length
  return {
    ...account,
    addTemplate: (template) =>
      control.templates.create({
        language: 'en',
        category: 'UTILITY',
        components: [{ type: 'BODY', text: 'Hello {{1}}.', example: { body_text: [['Ana']] } }],
        ...template,
        wabaId,
      }),
    async removeTemplate(name) {
      const response = await fetch(`${url}/v25.0/${wabaId}/message_templates?name=${name}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${token}` },
      })
      if (!response.ok) throw new Error(await response.text())
      await control.idle()
    },
    async connect(workspace) {
      const input = { name: 'Test app', appSecret, verifyToken: 'verify-me', graphUrl: url }
      const app = await createApp(server.db, server.clock, server.secretKeys, input)
      const connection = { workspaceId: workspace.id, appId: app.id, wabaId, accessToken: token }
      return (await createConnection(network, connection)).connection
    },
    calls: (edge) =>
      networkLog()
        .slice(since)
        .filter((line) => line.kind === 'call' && line.method !== 'DELETE' && line.url.includes(`/${wabaId}/${edge}`))
        .length,
  }
}
