// Stops a service that has deliveries in its queue while a client sends half a request and the database connection goes
// silent in the second round. Another service must deliver the rest without waiting for the leases to expire.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '@parley/server/db/db'
import { createWebhook } from '@parley/server/domain/webhooks/webhooks'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import { newApp, newSender, text, webhookOf } from '../../../server/testing/network-app.ts'
import { openDatabaseProxy } from '../../../server/testing/open-database-proxy.ts'
import { type ServiceProcess, secretKeys, spawnService } from '../../../server/testing/service.ts'
import { openPostgres } from '../lib/postgres.ts'

const events = 40
/** Attempts at an endpoint that has not responded yet. */
const parallelAttempts = 8

export const scenario = {
  name: 'stop-while-hanging',
  wanted: 'exit 0 within 15 s, the queue continues elsewhere within seconds; exit 0 within 15 s with a silent database',
  async run(say: (line: string) => void): Promise<{ figure: string; ok: boolean }> {
    const postgres = await openPostgres()
    const { db } = postgres
    const arrived = new Set<string>()
    const hanging = new Set<ServerResponse>()
    let responds = false
    const receiver = createServer((request, response) => {
      request.resume()
      if (!responds) return void hanging.add(response)
      arrived.add(String(request.headers['service-delivery']))
      response.end()
    })
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    const proxy = await openDatabaseProxy(postgres.connection)
    const services: ServiceProcess[] = []
    const start = async (connection: Connection, role: string) => {
      const allowed = { PARLEY_WEBHOOK_ALLOW_HTTP: 'true', PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' }
      const service = await spawnService(connection, { PARLEY_ROLE: role, ...allowed })
      services.push(service)
      return service
    }
    /** Sends half a request, and then SIGTERM. */
    const stop = async (service: ServiceProcess) => {
      const client = connect(Number(new URL(service.url).port), '127.0.0.1').on('error', () => {})
      client.write('POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"to":')
      await sleep(200)
      const from = performance.now()
      const code = await service.stop()
      client.destroy()
      return { code, seconds: (performance.now() - from) / 1000 }
    }
    try {
      const { id: workspaceId } = await createWorkspace(db, systemClock, 'stop')
      const url = `http://localhost:${(receiver.address() as AddressInfo).port}/`
      const rules = { allowHttp: true as const, allowRanges: [], resolve: async () => [] }
      const input = { workspaceId, name: 'receiver', url, events: ['message.received'] }
      await createWebhook(db, systemClock, secretKeys, rules, input)
      const target = { url: '', db, clock: systemClock, secretKeys }
      const app = await newApp(target)
      const { phoneNumberId } = await newSender(target, workspaceId, app.id, '99000000004')
      const first = await start(postgres.connection, 'all')
      const silent = await start(proxy.connection, 'all')
      const texts = Array.from({ length: events }, (_, n) => text(`wamid.stop.${n}`))
      await app.post(webhookOf(phoneNumberId, texts), { url: first.url })
      for (let wait = 0; wait < 1000 && hanging.size < parallelAttempts; wait++) await sleep(10)
      responds = true
      const from = performance.now()
      const stopping = stop(first)
      for (let wait = 0; wait < 600 && arrived.size < events; wait++) await sleep(100)
      const continued = (performance.now() - from) / 1000
      const clean = await stopping
      say(
        `exit ${clean.code} after ${clean.seconds.toFixed(1)} s; ${arrived.size} of ${events} events arrived within ${continued.toFixed(1)} s`,
      )
      proxy.hang()
      const cutOff = await stop(silent)
      say(`with a silent database: exit ${cutOff.code} after ${cutOff.seconds.toFixed(1)} s`)
      const figure = `exit ${clean.code} after ${clean.seconds.toFixed(1)} s, all delivered after ${continued.toFixed(1)} s; silent database: exit ${cutOff.code} after ${cutOff.seconds.toFixed(1)} s`
      const exits = [clean, cutOff].every(({ code, seconds }) => code === 0 && seconds < 15)
      return { figure, ok: exits && arrived.size === events && continued < 10 }
    } finally {
      for (const { child } of services) child.kill('SIGKILL')
      proxy.close()
      receiver.closeAllConnections()
      receiver.close()
      await postgres.close()
    }
  },
}
