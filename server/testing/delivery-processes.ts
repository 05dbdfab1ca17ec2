import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Connection, Database } from '../src/db/db.ts'
import { createWebhook } from '../src/domain/webhooks/webhooks.ts'
import { createWorkspace } from '../src/domain/workspaces/workspaces.ts'
import { systemClock } from '../src/lib/clock.ts'
import { newUuid } from '../src/lib/ids.ts'
import { newApp, newSender, text, webhookOf } from './network-app.ts'
import { type ServiceProcess, secretKeys, spawnService } from './service.ts'

/** Services in separate processes on one database, and an endpoint that counts what they deliver. */
export interface DeliveryProcesses {
  /** Starts a service. */
  start(role: 'all' | 'api' | 'worker', env?: Record<string, string>): Promise<ServiceProcess>
  /** Posts messages as the network does, one webhook each. Returns the IDs of acknowledged messages. */
  post(service: Pick<ServiceProcess, 'url'>, count: number): Promise<string[]>
  /** When each message arrived, by its ID, in `performance.now()` time. */
  arrivals: ReadonlyMap<string, number[]>
  /** Makes the endpoint respond to nothing until the returned function is called. */
  hold(): () => void
  /** Kills the processes that still run. */
  close(): Promise<void>
}

export async function newDeliveryProcesses(db: Database, connection: Connection): Promise<DeliveryProcesses> {
  const arrivals = new Map<string, number[]>()
  let held = Promise.resolve()
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: { wa_message_id: string } }
    arrivals.set(data.wa_message_id, [...(arrivals.get(data.wa_message_id) ?? []), performance.now()])
    await held
    response.end()
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const target = { url: '', db, clock: systemClock, secretKeys }
  const { id: workspaceId } = await createWorkspace(db, systemClock, 'processes')
  const url = `http://localhost:${(receiver.address() as AddressInfo).port}/`
  const rules = { allowHttp: true, allowRanges: [], resolve: async () => [] }
  await createWebhook(db, systemClock, secretKeys, rules, {
    workspaceId,
    name: 'receiver',
    url,
    events: ['message.received'],
  })
  const app = await newApp(target)
  const { phoneNumberId } = await newSender(target, workspaceId, app.id, '99000000001')
  const services: ServiceProcess[] = []
  return {
    arrivals,
    async start(role, env = {}) {
      const service = await spawnService(connection, {
        PARLEY_ROLE: role,
        PARLEY_WEBHOOK_ALLOW_HTTP: 'true',
        PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
        ...env,
      })
      services.push(service)
      return service
    },
    async post(service, count) {
      const ids = Array.from({ length: count }, () => `wamid.${newUuid()}`)
      const acknowledged = await Promise.all(
        ids.map((id) => app.post(webhookOf(phoneNumberId, [text(id)]), { url: service.url }).catch(() => 0)),
      )
      return ids.filter((_, index) => acknowledged[index] === 200)
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return () => {
        held = Promise.resolve()
        resolve()
      }
    },
    async close() {
      for (const { child } of services) {
        if (child.exitCode !== null || child.signalCode !== null) continue
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      receiver.closeAllConnections()
      receiver.close()
    },
  }
}
