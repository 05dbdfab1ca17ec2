import { scopes } from '@parley/contract/scopes'
import { startSimulator } from '@parley/simulator/start'
import { onTestFinished } from 'vitest'
import { type Connection, openDatabase } from '../src/db/db.ts'
import { createApp, ingressPath } from '../src/domain/connections/apps.ts'
import { createConnection } from '../src/domain/connections/connections.ts'
import { newNetwork } from '../src/domain/connections/network.ts'
import { giveCredits } from '../src/domain/credits/credits.ts'
import { createKey } from '../src/domain/keys/keys.ts'
import { createWorkspace } from '../src/domain/workspaces/workspaces.ts'
import { systemClock } from '../src/lib/clock.ts'
import { GraphClient } from '../src/whatsapp/graph/client.ts'
import { callApi } from './call.ts'
import { newServiceDatabase } from './database.ts'
import { type ServiceProcess, secretKeys, spawnService } from './service.ts'
import { startHere, startMortal } from './service-here.ts'

/**
 * For one test: a workspace that sends through the simulated network, and services. They run in this process, unless `spawn` starts
 * them.
 */
export async function newProcessShop() {
  const database = await newServiceDatabase()
  const shop = await openProcessShop(database.connection)
  onTestFinished(async () => {
    await shop.close()
    await database.drop()
  })
  return {
    ...shop,
    start: async (env: Record<string, string> = {}) => shop.connect(await startHere(database.connection, env), env),
    startMortal: async (env: Record<string, string> = {}) =>
      shop.connect(await startMortal(database.connection, env), env),
    async spawn(env: Record<string, string> = {}): Promise<ServiceProcess> {
      const service = await shop.start(env)
      onTestFinished(() => void service.child.kill('SIGKILL'))
      return service
    },
  }
}

/** The same on any migrated database, until `close`. */
export async function openProcessShop(connection: Connection) {
  const db = openDatabase(connection, () => {}, 4)
  const simulator = await startSimulator({ port: 0, dataset: 'demo' })
  const client = new GraphClient({ productVersion: 'test' })
  const { control } = simulator
  control.switches.set({ customerWindow: false, deliveredAfterMs: 0, readAfterMs: 0, respondAfterMs: 60 })
  control.webhooks.configure({ retryMs: [20, 20, 20, 20, 20, 20, 50] })
  const [networkApp] = control.apps.list()
  const { id: workspaceId } = await createWorkspace(db, systemClock, 'Shop')
  await giveCredits(db, systemClock, workspaceId, 1000, 'test')
  const { secret } = await createKey(db, systemClock, {
    workspaceId,
    name: 'k',
    scopes,
    rateLimitPerMin: 100,
    createdBy: 'test',
  })
  const app = await createApp(db, systemClock, secretKeys, {
    name: 'app',
    appSecret: networkApp?.secret ?? '',
    verifyToken: networkApp?.verifyToken ?? '',
    graphUrl: simulator.url,
  })
  const parts = { db, secretKeys, client }
  const wabaId = control.wabas.list()[0]?.id ?? ''
  const accessToken = control.tokens.list()[0]?.token ?? ''
  const network = newNetwork({ ...parts, clock: systemClock })
  await createConnection(network, { workspaceId, appId: app.id, wabaId, accessToken })
  const [sender] = await db.rows<{ id: string; phone_number_id: string }>(
    'select id, phone_number_id from senders order by id limit 1',
  )
  /** From now on the network posts to this service, unless it is a worker. */
  const connect = async <Service extends { url: string }>(service: Service, env: Record<string, string>) => {
    if (env.PARLEY_ROLE !== 'worker')
      await control.apps.setCallback(networkApp?.id ?? '', { url: service.url + ingressPath(app.id) })
    return service
  }
  return {
    db,
    connection,
    connect,
    /** The dependencies for `newNetwork`. */
    parts,
    control,
    workspaceId,
    secret,
    /** What signs the network's webhooks, and where they go. */
    app: { secret: networkApp?.secret ?? '', path: ingressPath(app.id) },
    phoneNumberId: sender?.phone_number_id ?? '',
    /** Starts a service in its own process. The network posts to the latest process that is not a worker. */
    start: async (env: Record<string, string> = {}): Promise<ServiceProcess> =>
      connect(await spawnService(connection, env), env),
    /** Sends a text through one of the services. */
    sendText(service: Pick<ServiceProcess, 'url'>, to: string, key = secret) {
      const body = { sender_id: `snd_${sender?.id}`, to, type: 'text', text: { body: 'hi' } }
      return callApi(`${service.url}/v1/messages`, { method: 'POST', key, body })
    },
    async close() {
      await client.close()
      await simulator.stop()
      await db.close()
    },
  }
}
