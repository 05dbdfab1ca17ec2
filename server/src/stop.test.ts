import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startDatabaseProxy } from '../testing/database-proxy.ts'
import { newApp, newSender, text, webhookOf } from '../testing/network-app.ts'
import { startParley } from '../testing/parley.ts'
import { secretKeys, urlOf } from '../testing/service.ts'
import { newProcessShop } from '../testing/shop-process.ts'
import { until } from '../testing/until.ts'
import type { Connection } from './db/db.ts'
import { createWebhook } from './domain/webhooks/webhooks.ts'
import { systemClock } from './lib/clock.ts'

/** What docs/operating.md promises. */
const stopMaxMs = 15_000

/** A receiver that does not respond until `respond` is called, and immediately from then on. */
async function newHangingReceiver() {
  const hanging = new Set<ServerResponse>()
  const arrived = new Set<string>()
  let responds = false
  const server = createServer((request, response) => {
    if (!responds) hanging.add(response)
    else {
      arrived.add(String(request.headers['service-delivery']))
      response.end()
    }
    request.resume()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    hanging,
    arrived,
    respond() {
      responds = true
    },
  }
}

const start = (connection: Connection, role: string) =>
  startParley({
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    DATABASE_URL: urlOf(connection),
    PARLEY_ROLE: role,
    PARLEY_SECRET_KEYS: [...secretKeys].map(([name, key]) => `${name}:${key.toString('base64')}`).join(),
    PARLEY_WEBHOOK_ALLOW_HTTP: 'true',
    PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  })

const deliveries = 40
/** How many attempts a process makes at an endpoint that has not responded yet. */
const parallelAttempts = 8

/** A service with deliveries in its queue and in a hanging receiver, a hanging call to the network and a hanging client. */
async function newBusyService({
  behind = async (connection: Connection) => connection,
  hasOther = false,
}: {
  /** Returns the connection through a proxy. */
  behind?: (connection: Connection) => Promise<Connection>
  /** Whether another process delivers too. */
  hasOther?: boolean
} = {}) {
  const shop = await newProcessShop()
  const { db, control, workspaceId, secret } = shop
  const receiver = await newHangingReceiver()
  const rules = { allowHttp: true as const, allowRanges: [], resolve: async () => [] }
  const input = { workspaceId, name: 'receiver', url: receiver.url, events: ['message.received'] }
  await createWebhook(db, systemClock, secretKeys, rules, input)
  const target = { url: '', db, clock: systemClock, secretKeys }
  const app = await newApp(target)
  const { phoneNumberId } = await newSender(target, workspaceId, app.id, '99000000002')
  control.switches.set({ answerAfterMs: 300_000 })
  const service = await start(await behind(shop.connection), 'all')
  expect((await shop.sendText(service, '16505550301')).status).toBe(202)
  await until('a call to the network hangs', () => db.first(`select 1 from outbox where state = 'calling'`))
  if (hasOther) await start(shop.connection, 'worker')
  const texts = Array.from({ length: deliveries }, (_, n) => text(`wamid.stop.${n}`))
  expect(await app.post(webhookOf(phoneNumberId, texts), { url: service.url })).toBe(200)
  await until('as many attempts hang as begin at a time', () => receiver.hanging.size === parallelAttempts)
  const client = connect(Number(new URL(service.url).port), '127.0.0.1').on('error', () => {})
  onTestFinished(() => void client.destroy())
  client.write(
    `POST /v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"to":`,
  )
  const leased = async () => (await db.rows('select 1 from deliveries where lease is not null')).length
  expect(await leased()).toBe(deliveries)
  return { ...shop, receiver, service, leased }
}

/** Sends SIGTERM and returns how the process ended, and after how long. */
async function stop(service: Awaited<ReturnType<typeof start>>) {
  const from = performance.now()
  service.child.kill('SIGTERM')
  const { code, signal, err } = await service.ended
  return { code, signal, err, ms: performance.now() - from }
}

test('a service that stops while the network and a client hang returns its leases first, and exits with 0', async () => {
  const { service, receiver, db } = await newBusyService({ hasOther: true })
  receiver.respond()
  const stopped = stop(service)
  const all = until('every delivery has arrived', () => receiver.arrived.size === deliveries, 60_000)
  expect(await Promise.race([all.then(() => 'arrived'), stopped.then(() => 'stopped')])).toBe('arrived')
  const { code, ms } = await stopped
  expect(code).toBe(0)
  expect(ms).toBeLessThan(stopMaxMs)
  // The call was made, so the message is never sent again.
  const outbox = await db.rows<{ state: string; attempts: number }>('select state, attempts from outbox')
  expect(outbox).toEqual([{ state: expect.stringMatching(/calling|unknown/), attempts: 1 }])
})

test('a second SIGTERM does not interrupt the stop', async () => {
  const { service, leased } = await newBusyService()
  const stopped = stop(service)
  await sleep(1_500)
  service.child.kill('SIGTERM')
  const { code, signal, ms } = await stopped
  expect({ code, signal }).toEqual({ code: 0, signal: null })
  expect(ms).toBeLessThan(stopMaxMs)
  expect(await leased()).toBe(0)
})

test('a service stops in time while the database does not respond', async () => {
  let hang = () => {}
  const { service } = await newBusyService({
    async behind(connection) {
      const proxy = await startDatabaseProxy(connection)
      hang = () => proxy.hang()
      return proxy.connection
    },
  })
  hang()
  const { code, signal, ms } = await stop(service)
  expect({ code, signal }).toEqual({ code: 0, signal: null })
  expect(ms).toBeLessThan(stopMaxMs)
})
