import { eventTypes } from '@parley/contract/events'
import { scopes } from '@parley/contract/scopes'
import type { Database } from '@parley/server/db/db'
import { createApp, ingressPath } from '@parley/server/domain/connections/apps'
import { createConnection } from '@parley/server/domain/connections/connections'
import { newNetwork } from '@parley/server/domain/connections/network'
import { giveCredits } from '@parley/server/domain/credits/credits'
import { createKey } from '@parley/server/domain/keys/keys'
import { createWebhook } from '@parley/server/domain/webhooks/webhooks'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import { GraphClient } from '@parley/server/whatsapp/graph/client'
import { type Simulator, startSimulator } from '@parley/simulator/start'
import { localRules } from '../../../../server/testing/deliveries.ts'
import { secretKeys } from '../../../../server/testing/service.ts'
import type { CountingReceiver } from '../counting-receiver.ts'
import type { PostingApp } from '../network-posts.ts'
import type { Endpoint } from '../proofs.ts'

export interface Tenant {
  id: string
  key: string
  phoneNumberId: string
  /** The template of a form, for some of them. */
  formTemplate: string | null
  endpoints: Endpoint[]
}

export interface Tenants {
  all: Tenant[]
  app: PostingApp
  simulator: Simulator
  /** The network posts to this address from now on. */
  setCallback(url: string): Promise<void>
  /** Keys with this limit a minute, in addition to those that send. */
  limitedKeys: string[]
  close(): Promise<void>
}

const workspaceCount = 200
const endpointsEach = 10
/** One in ten sends forms. */
const formEvery = 10
export const limitPerMinute = 30

const statusEvents = ['message.sent', 'message.delivered', 'message.read', 'message.failed']
/** What the endpoints of a workspace subscribe to, each in turn. */
const subscriptions: readonly (readonly string[])[] = [
  eventTypes,
  ['message.received'],
  statusEvents,
  ['flow.completed'],
  ['message.read'],
]

export async function openTenants(db: Database, receiver: CountingReceiver): Promise<Tenants> {
  const simulator = await startSimulator({ port: 0, dataset: 'empty', maxLogEntries: 10 })
  const { control } = simulator
  control.switches.set({
    customerWindow: false,
    pairLimit: false,
    throughputLimit: false,
    deliveredAfterMs: 200,
    readAfterMs: 1_000,
  })
  control.webhooks.configure({ retryMs: [200, 500, 1_000, 2_000], timeoutMs: 10_000, batchWindowMs: 50 })
  const networkApp = control.apps.create({})
  const { id: appId } = await createApp(db, systemClock, secretKeys, {
    name: 'app',
    appSecret: networkApp.secret,
    verifyToken: networkApp.verifyToken,
    graphUrl: simulator.url,
  })
  const client = new GraphClient({ productVersion: 'test' })
  const network = newNetwork({ db, clock: systemClock, secretKeys, client })

  async function open(index: number): Promise<Tenant> {
    const { id } = await createWorkspace(db, systemClock, `Tenant ${index}`)
    await giveCredits(db, systemClock, id, 1_000, 'start')
    const key = await createKey(db, systemClock, {
      workspaceId: id,
      name: 'k',
      scopes,
      rateLimitPerMin: 100,
      createdBy: 'test',
    })
    const waba = control.wabas.create({ appIds: [] })
    const number = control.numbers.create({ wabaId: waba.id, phoneNumber: String(15_552_000_000 + index) })
    // A third of the accounts get each update twice, a third in another order.
    control.numbers.change(number.id, {
      switches: { duplicateWebhooks: index % 3 === 0, reorderWebhooks: index % 3 === 1 },
    })
    const hasForm = index % formEvery === 0
    if (hasForm) addForm(control, waba.id)
    const { token } = control.tokens.create({ appId: networkApp.id, wabaIds: [waba.id] })
    await createConnection(network, { workspaceId: id, appId, wabaId: waba.id, accessToken: token })
    const endpoints: Tenant['endpoints'] = []
    for (let n = 0; n < endpointsEach; n++) {
      const events = subscriptions[n % subscriptions.length] ?? []
      const path = `${index}-${n}`
      const input = { workspaceId: id, name: path, url: receiver.urlOf(path), events }
      const { webhook } = await createWebhook(db, systemClock, secretKeys, localRules, input)
      endpoints.push({ id: webhook.id, workspaceId: id, path, events: new Set(events) })
    }
    const template =
      hasForm && (await db.first<{ id: string }>('select id from templates where workspace_id = $1', [id]))
    const formTemplate = template ? `tpl_${template.id}` : null
    return { id, key: key.secret, phoneNumberId: number.id, formTemplate, endpoints }
  }

  const all: Tenant[] = []
  for (let index = 0; index < workspaceCount; index += 4) {
    all.push(...(await Promise.all([0, 1, 2, 3].map((more) => open(index + more)))))
  }
  const limitedKeys: string[] = []
  for (const { id } of all.slice(0, 3)) {
    const key = { workspaceId: id, name: 'limited', scopes, rateLimitPerMin: limitPerMinute, createdBy: 'test' }
    limitedKeys.push((await createKey(db, systemClock, key)).secret)
  }
  return {
    all,
    app: { secret: networkApp.secret, path: ingressPath(appId) },
    simulator,
    async setCallback(url) {
      await control.apps.setCallback(networkApp.id, { url: url + ingressPath(appId) })
    },
    limitedKeys,
    async close() {
      await client.close()
      await simulator.stop()
    },
  }
}

function addForm(control: Simulator['control'], wabaId: string): void {
  const flow = control.flows.create({ wabaId, name: 'intake', json: { version: '7.3', screens: [] } })
  control.templates.create({
    wabaId,
    name: 'form',
    language: 'en',
    category: 'UTILITY',
    components: [
      { type: 'BODY', text: 'Please fill this in.' },
      { type: 'BUTTONS', buttons: [{ type: 'FLOW', text: 'Open', flow_id: Number(flow.id), flow_action: 'NAVIGATE' }] },
    ],
  })
}
