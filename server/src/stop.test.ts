import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startDatabaseProxy } from '../testing/database-proxy.ts'
import { newApp, newSender, text, webhookOf } from '../testing/network-app.ts'
import { startParley } from '../testing/parley.ts'
import { secretKeys, urlOf } from '../testing/service.ts'
import { startHere } from '../testing/service-here.ts'
import { newProcessShop } from '../testing/shop-process.ts'
import { until } from '../testing/until.ts'
import { createWebhook } from './domain/webhooks/webhooks.ts'
import { systemClock } from './lib/clock.ts'

/** What docs/run/scaling.md promises. */
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

const deliveries = 40
/** How many attempts a process makes at an endpoint that has not responded yet. */
const parallelAttempts = 8

/** A shop with an endpoint that hangs and a network that hangs. */
async function newHangingShop() {
  const shop = await newProcessShop()
  const { db, control, workspaceId, secret } = shop
  const receiver = await newHangingReceiver()
  const rules = { allowHttp: true as const, allowRanges: [], resolve: async () => [] }
  const input = { workspaceId, name: 'receiver', url: receiver.url, events: ['message.received'] }
  await createWebhook(db, systemClock, secretKeys, rules, input)
  const target = { url: '', db, clock: systemClock, secretKeys }
  const app = await newApp(target)
  const { phoneNumberId } = await newSender(target, workspaceId, app.id, '99000000002')
  control.switches.set({ respondAfterMs: 300_000 })
  return {
    ...shop,
    receiver,
    /** Gives the service deliveries, a call to the network and a client that all hang. `others` start in between. */
    async occupy(service: { url: string }, startOthers = async () => {}) {
      expect((await shop.sendText(service, '16505550301')).status).toBe(202)
      await until('a call to the network hangs', () => db.first(`select 1 from outbox where state = 'calling'`))
      await startOthers()
      const texts = Array.from({ length: deliveries }, (_, n) => text(`wamid.stop.${n}`))
      expect(await app.post(webhookOf(phoneNumberId, texts), { url: service.url })).toBe(200)
      await until('as many attempts hang as begin at a time', () => receiver.hanging.size === parallelAttempts)
      const client = connect(Number(new URL(service.url).port), '127.0.0.1').on('error', () => {})
      onTestFinished(() => void client.destroy())
      client.write(
        `POST /v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"to":`,
      )
      expect(await db.rows('select 1 from deliveries where lease is not null')).toHaveLength(deliveries)
    },
  }
}

test('a service that stops while the network and a client hang returns its leases first, and exits with 0, even if it gets SIGTERM twice', async () => {
  const { db, connection, receiver, start, occupy } = await newHangingShop()
  const service = await startParley({
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    DATABASE_URL: urlOf(connection),
    PARLEY_SECRET_KEYS: [...secretKeys].map(([name, key]) => `${name}:${key.toString('base64')}`).join(),
    PARLEY_WEBHOOK_ALLOW_HTTP: 'true',
    PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  })
  await occupy(service, async () => void (await start({ PARLEY_ROLE: 'worker' })))
  receiver.respond()
  const from = performance.now()
  service.child.kill('SIGTERM')
  const all = until('every delivery has arrived', () => receiver.arrived.size === deliveries, 60_000)
  const first = await Promise.race([all.then(() => 'arrived'), service.ended.then(() => 'stopped')])
  service.child.kill('SIGTERM')
  expect(first).toBe('arrived')
  const { code, signal } = await service.ended
  expect({ code, signal }).toEqual({ code: 0, signal: null })
  expect(performance.now() - from).toBeLessThan(stopMaxMs)
  // The call was made, so the message is never sent again.
  const outbox = await db.rows<{ state: string; attempts: number }>('select state, attempts from outbox')
  expect(outbox).toEqual([{ state: expect.stringMatching(/calling|unknown/), attempts: 1 }])
})

test('every part of a service stops without an error', async () => {
  const { connection } = await newProcessShop()
  const service = await startHere(connection, { LOG_LEVEL: 'warn' })
  await service.stop()
  expect(service.output()).not.toContain('service.stop_failed')
})

test('a service stops in time while the database does not respond', async () => {
  const { connection, occupy } = await newHangingShop()
  const proxy = await startDatabaseProxy(connection)
  // A tenth of the usual ones.
  const stopLimits = { requestsMs: 500, workMs: 650, logsMs: 300, otherMs: 100 }
  const service = await startHere(proxy.connection, {}, { stopLimits })
  await occupy(service)
  proxy.hang()
  const from = performance.now()
  await service.stop()
  expect(performance.now() - from).toBeLessThan(stopMaxMs / 2)
})
