import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection, Database } from '../src/db/db.ts'
import { createWebhook } from '../src/domain/webhooks/webhooks.ts'
import { createWorkspace } from '../src/domain/workspaces/workspaces.ts'
import { systemClock } from '../src/lib/clock.ts'
import { newUuid } from '../src/lib/ids.ts'
import { type IngressTarget, newApp, newSender, text, webhookOf } from './network-app.ts'
import { secretKeys, spawnService } from './service.ts'

export interface CrashOutcome {
  /** Messages that the webhook ingress acknowledged with 200. */
  acknowledged: number
  arrived: number
  /** Messages that were acknowledged and never arrived. */
  lost: number
  /** Duplicate arrivals. */
  repeats: number
  /** Deliveries with a lease after each crash, in total. No more than these can have been in flight. */
  inFlight: number
}

/** Each round acknowledges at least this many messages before its crash, even on a busy machine. */
const leastPerRound = 20

/**
 * Repeatedly crashes the service while it receives and delivers, and counts the acknowledged messages that arrived or
 * were lost. By default each round kills the service with SIGKILL; `crash` replaces that. `wait` must wait until the
 * leases of the killed processes have expired.
 */
export async function crashUnderLoad(options: {
  db: Database
  connection: Connection
  rounds: number
  writers: number
  crash?: () => Promise<void>
  wait(db: Database): Promise<void>
  say?: (line: string) => void
}): Promise<CrashOutcome> {
  const { db, connection, rounds, writers, say = () => {} } = options
  const arrivals = new Map<string, number>()
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: { wa_message_id: string } }
    arrivals.set(data.wa_message_id, (arrivals.get(data.wa_message_id) ?? 0) + 1)
    response.end()
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const hookUrl = `http://localhost:${(receiver.address() as AddressInfo).port}/`
  const { post } = await prepare({ url: '', db, clock: systemClock, secretKeys }, hookUrl)
  const acknowledged = new Set<string>()
  const inFlight = new Set<string>()
  const start = () =>
    spawnService(connection, { PARLEY_WEBHOOK_ALLOW_HTTP: 'true', PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' })
  let service = await start()
  for (let round = 0; round < rounds; round++) {
    let over = false
    const { url } = service
    const enough = acknowledged.size + leastPerRound
    const writing = Array.from({ length: writers }, async () => {
      while (!over) {
        const ids = Array.from({ length: 5 }, () => `wamid.${newUuid()}`)
        if (await post(ids, url)) for (const id of ids) acknowledged.add(id)
        else await sleep(5)
      }
    })
    while (acknowledged.size < enough) await sleep(20)
    await sleep(Math.random() * 400)
    if (options.crash) await options.crash()
    else {
      service.child.kill('SIGKILL')
      await once(service.child, 'exit')
    }
    over = true
    await Promise.all(writing)
    const leases = await db.rows<{ held: string }>(
      `select event_id || ' ' || lease as held from deliveries where lease is not null`,
    )
    for (const { held } of leases) inFlight.add(held)
    say(`round ${round + 1}: ${acknowledged.size} acknowledged, ${arrivals.size} arrived`)
    if (!options.crash) service = await start()
  }
  await options.wait(db)
  for (let attempt = 0; attempt < 1200; attempt++) {
    if ((await db.first<{ n: number }>('select count(*) as n from deliveries'))?.n === 0) break
    await sleep(50)
  }
  await service.stop()
  receiver.closeAllConnections()
  receiver.close()
  const lost = [...acknowledged].filter((id) => !arrivals.has(id)).length
  const repeats = [...arrivals.values()].reduce((sum, count) => sum + count - 1, 0)
  return { acknowledged: acknowledged.size, arrived: arrivals.size, lost, repeats, inFlight: inFlight.size }
}

async function prepare(service: IngressTarget, hookUrl: string) {
  const { db, clock } = service
  const { id: workspaceId } = await createWorkspace(db, clock, 'crash')
  const input = { workspaceId, name: 'receiver', url: hookUrl, events: ['message.received'] }
  await createWebhook(db, clock, secretKeys, { allowHttp: true, allowRanges: [], resolve: async () => [] }, input)
  const app = await newApp(service)
  const { phoneNumberId } = await newSender(service, workspaceId, app.id, '99000000001')
  /** Posts messages, and returns whether they were acknowledged. */
  const post = async (ids: readonly string[], url: string): Promise<boolean> => {
    const messages = ids.map((id) => text(id))
    return (await app.post(webhookOf(phoneNumberId, messages), { url }).catch(() => 0)) === 200
  }
  return { post }
}
