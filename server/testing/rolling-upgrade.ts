import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Scope } from '@parley/contract/scopes'
import { startSimulator } from '@parley/simulator/start'
import { type Connection, openDatabase } from '../src/db/db.ts'
import { createApp, ingressPath } from '../src/domain/connections/apps.ts'
import { createConnection } from '../src/domain/connections/connections.ts'
import { newNetwork } from '../src/domain/connections/network.ts'
import { giveCredits } from '../src/domain/credits/credits.ts'
import { verifyLedger } from '../src/domain/credits/verify-ledger.ts'
import { createKey } from '../src/domain/keys/keys.ts'
import { createWebhook } from '../src/domain/webhooks/webhooks.ts'
import { createWorkspace } from '../src/domain/workspaces/workspaces.ts'
import { systemClock as clock } from '../src/lib/clock.ts'
import { newUuid } from '../src/lib/ids.ts'
import { newLogger } from '../src/telemetry/logger.ts'
import { GraphClient } from '../src/whatsapp/graph/client.ts'
import { startBalancer } from './balancer.ts'
import { callApi } from './call.ts'
import { childEnv } from './child-env.ts'
import { newApp, newSender, text, webhookOf } from './network-app.ts'
import { type ServiceProcess, secretKeys, spawnService, urlOf } from './service.ts'
import { until } from './until.ts'

export interface RollingUpgrade {
  /** Requests and webhooks that did not get 2xx. */
  refused: string[]
  /** Webhooks of the network that were acknowledged, and their events that never arrived at the endpoint. */
  received: number
  lostEvents: number
  /** Accepted messages; messages that the network never got, and messages that it got more than once. */
  accepted: number
  notSent: number
  sentTwice: number
  requests: number
  wrongBalances: number
  longestMs: number
  /** Errors in the logs of both versions. */
  errors: string[]
}

/** What a new version typically does: columns for busy tables, an index, and a value for every row. */
export const exampleMigration = `-- The schema of the next version.
${[
  'messages',
  'inbound_messages',
  'outbox',
  'deliveries',
  'webhooks',
  'senders',
  'api_keys',
  'workspaces',
  'events',
  'delivery_attempts',
  'idempotency_keys',
  'credit_entries',
  'connections',
]
  .map(
    (table) => `
-- step: transaction
alter table ${table} add column upgraded boolean;
alter table ${table} alter column upgraded set default true;
`,
  )
  .join('')}
-- step: batches of inbound_messages
update inbound_messages set upgraded = true where ctid >= $1 and ctid < $2 and upgraded is null;

-- step: concurrently
create index concurrently inbound_messages_by_upgraded on inbound_messages (upgraded, id);
`

/**
 * Upgrades from one version to the next under load, as docs/run/upgrading.md describes: migrate while the old process serves,
 * start the new one, then take the old one out of the balancer and stop it.
 */
export async function rollingUpgrade(options: {
  /** An empty database. */
  connection: Connection
  newRoot: string
  /** How long each part lasts: the old version alone, after migrating, both, the new version alone. */
  partMs: number
  writers: number
  say?: (line: string) => void
}): Promise<RollingUpgrade> {
  const { connection, newRoot, partMs, writers, say = () => {} } = options
  const env = { PARLEY_WEBHOOK_ALLOW_HTTP: 'true', PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', LOG_LEVEL: 'error' }
  const services: ServiceProcess[] = []
  const start = async (root?: string) => {
    const service = await spawnService(connection, env, root === undefined ? {} : { root })
    services.push(service)
    return service
  }
  const simulator = await startSimulator({ port: 0, dataset: 'demo', maxLogEntries: 1_000_000 })
  const balancer = await startBalancer()
  const arrivals = new Set<string>()
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: { wa_message_id: string } }
    arrivals.add(data.wa_message_id)
    response.end()
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const db = openDatabase(connection, () => {}, 3)
  try {
    const old = await start()
    balancer.add(old.url)
    const hookUrl = `http://localhost:${(receiver.address() as AddressInfo).port}/`
    const shop = await prepare(connection, simulator, hookUrl, balancer.url)
    const outcome: RollingUpgrade = {
      refused: [],
      received: 0,
      lostEvents: 0,
      accepted: 0,
      notSent: 0,
      sentTwice: 0,
      requests: 0,
      wrongBalances: 0,
      longestMs: 0,
      errors: [],
    }
    const acknowledged: string[] = []
    let part = 'the old version alone'
    let isOver = false
    /** Makes requests one after the other until the end. Each must succeed. */
    const repeat = async (what: string, request: () => Promise<{ status: number }>) => {
      while (!isOver) {
        const began = performance.now()
        const { status } = await request().catch((error: Error) => ({ status: error.message }))
        outcome.longestMs = Math.max(outcome.longestMs, Math.round(performance.now() - began))
        outcome.requests++
        if (!(Number(status) >= 200 && Number(status) < 300)) outcome.refused.push(`${what}, ${part}: ${status}`)
        await sleep(20)
      }
    }
    const running = Array.from({ length: writers }, () => [
      repeat('GET /v1/me', () => callApi(`${balancer.url}/v1/me`, { key: shop.key(outcome.requests) })),
      repeat('POST /v1/messages', async () => {
        const to = `1650555${String(outcome.accepted++ % 10_000).padStart(4, '0')}`
        const body = { sender_id: shop.senderId, to, type: 'text', text: { body: 'hi' } }
        const headers = { 'idempotency-key': newUuid() }
        return callApi(`${balancer.url}/v1/messages`, {
          method: 'POST',
          key: shop.key(outcome.requests),
          body,
          headers,
        })
      }),
      repeat('webhook', async () => {
        const id = `wamid.${newUuid()}`
        const status = await shop.post(id, balancer.url)
        if (status === 200) acknowledged.push(id)
        return { status }
      }),
    ]).flat()
    const next = async (name: string) => {
      part = name
      say(`${name}: ${outcome.requests} requests so far, ${outcome.refused.length} refused`)
      await sleep(partMs)
    }
    try {
      await next('the old version alone')
      part = 'migrating'
      say(await migrateWith(newRoot, connection))
      await next('the old version on the new schema')
      const newer = await start(newRoot)
      balancer.add(newer.url)
      await until('the new version is ready', async () => (await fetch(`${newer.url}/readyz`)).status === 200)
      await next('both versions')
      part = 'the old version stops'
      await balancer.drain(old.url)
      const code = await old.stop()
      if (code !== 0) outcome.errors.push(`the old version exited with ${code}`)
      await next('the new version alone')
    } finally {
      isOver = true
      await Promise.all(running)
    }
    const open = `select (select count(*)::int from deliveries) + (select count(*)::int from outbox) as open`
    await until('nothing waits', async () => (await db.first<{ open: number }>(open))?.open === 0, 90_000)
    const sent = simulator.control.log
      .list({ limit: 1_000_000 })
      .filter((entry) => entry.kind === 'call' && entry.method === 'POST' && /\/messages$/.test(entry.url))
    outcome.accepted -= outcome.refused.filter((each) => each.startsWith('POST')).length
    outcome.received = acknowledged.length
    outcome.lostEvents = acknowledged.filter((id) => !arrivals.has(id)).length
    outcome.notSent = Math.max(0, outcome.accepted - sent.length)
    outcome.sentTwice = Math.max(0, sent.length - outcome.accepted)
    outcome.wrongBalances = (await verifyLedger(db, newLogger('silent'))).length
    for (const service of services) outcome.errors.push(...(service.output().match(/^\{.*"level":(50|60).*$/gm) ?? []))
    return outcome
  } finally {
    for (const { child } of services) child.kill('SIGKILL')
    await db.close()
    await balancer.close()
    receiver.closeAllConnections()
    receiver.close()
    await simulator.stop()
  }
}

async function migrateWith(root: string, connection: Connection): Promise<string> {
  const secrets = [...secretKeys].map(([name, key]) => `${name}:${key.toString('base64')}`).join()
  const env = { ...childEnv, DATABASE_URL: urlOf(connection), PARLEY_SECRET_KEYS: secrets }
  const args = [join(root, 'cli', 'src', 'main.ts'), 'migrate']
  return (await promisify(execFile)(process.execPath, args, { env })).stdout.trim()
}

/** Each of them may make 100 requests per minute. */
const keys = 150

type Simulator = Awaited<ReturnType<typeof startSimulator>>

/** A workspace with credits, a key, senders and an endpoint. */
async function prepare(connection: Connection, simulator: Simulator, hookUrl: string, balancer: string) {
  const db = openDatabase(connection, () => {}, 2)
  const client = new GraphClient({ productVersion: 'test' })
  const { control } = simulator
  control.switches.set({ customerWindow: false, deliveredAfterMs: 0, readAfterMs: 0 })
  control.webhooks.configure({ retryMs: [100, 100, 100, 200, 500] })
  const [networkApp] = control.apps.list()
  const { id: workspaceId } = await createWorkspace(db, clock, 'Shop')
  await giveCredits(db, clock, workspaceId, 1_000_000, 'test')
  const secrets: string[] = []
  const scopes: Scope[] = ['messages:send', 'messages:read']
  for (let index = 0; index < keys; index++) {
    const key = { workspaceId, name: `key ${index}`, scopes, rateLimitPerMin: 100, createdBy: 'test' }
    secrets.push((await createKey(db, clock, key)).secret)
  }
  const app = await createApp(db, clock, secretKeys, {
    name: 'app',
    appSecret: networkApp?.secret ?? '',
    verifyToken: networkApp?.verifyToken ?? '',
    graphUrl: simulator.url,
  })
  await until('the balancer is ready', async () => (await fetch(`${balancer}/readyz`)).status === 200)
  await control.apps.setCallback(networkApp?.id ?? '', { url: balancer + ingressPath(app.id) })
  const network = newNetwork({ db, clock, secretKeys, client })
  const accessToken = control.tokens.list()[0]?.token ?? ''
  await createConnection(network, {
    workspaceId,
    appId: app.id,
    wabaId: control.wabas.list()[0]?.id ?? '',
    accessToken,
  })
  const sender = await db.first<{ id: string }>('select id from senders order by id limit 1')
  const target = { url: balancer, db, clock, secretKeys }
  const inbound = await newApp(target)
  const { phoneNumberId } = await newSender(target, workspaceId, inbound.id, '99000000001')
  const rules = { allowHttp: true, allowRanges: [], resolve: async () => [] }
  const webhook = { workspaceId, name: 'receiver', url: hookUrl, events: ['message.received'] }
  await createWebhook(db, clock, secretKeys, rules, webhook)
  await client.close()
  await db.close()
  return {
    key: (request: number) => secrets[request % keys],
    senderId: `snd_${sender?.id}`,
    post: (id: string, url: string) => inbound.post(webhookOf(phoneNumberId, [text(id)]), { url }),
  }
}
