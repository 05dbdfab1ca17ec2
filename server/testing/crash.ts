import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection, Database } from '../src/db/db.ts'
import { createApp } from '../src/domain/connections/apps.ts'
import { createWebhook } from '../src/domain/webhooks/webhooks.ts'
import { createWorkspace } from '../src/domain/workspaces/workspaces.ts'
import { systemClock } from '../src/lib/clock.ts'
import { newUuid } from '../src/lib/ids.ts'
import { secretKeys, spawnService } from './service.ts'

const appSecret = 'crash-app-secret'

export interface CrashOutcome {
  /** Messages the ingress has answered with 200. */
  acknowledged: number
  arrived: number
  /** Acknowledged and never arrived. */
  lost: number
  /** Arrivals beyond the first of each event. */
  repeats: number
  /** Deliveries that were leased after the strike, over all rounds: more cannot have been under way. */
  inFlight: number
}

/**
 * Strikes while the service receives and delivers, again and again, and looks what became of every message that it had
 * acknowledged. Without a `strike` of their own the rounds kill the service outright. `wait` lets the leases of the dead run
 * out.
 */
export async function crashUnderLoad(options: {
  db: Database
  connection: Connection
  rounds: number
  writers: number
  strike?: () => Promise<void>
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
  const hookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const ingress = await prepare(db, hookUrl)
  const acknowledged = new Set<string>()
  const underWay = new Set<string>()
  const start = () =>
    spawnService(connection, { PARLEY_WEBHOOK_ALLOW_HTTP: 'true', PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' })
  let service = await start()
  for (let round = 0; round < rounds; round++) {
    let over = false
    const { url } = service
    const writing = Array.from({ length: writers }, async () => {
      while (!over) {
        const ids = Array.from({ length: 5 }, () => `wamid.${newUuid()}`)
        if (await post(url + ingress.path, ingress.phoneNumberId, ids)) for (const id of ids) acknowledged.add(id)
        else await sleep(5)
      }
    })
    await sleep(150 + Math.random() * 400)
    if (options.strike) await options.strike()
    else {
      service.child.kill('SIGKILL')
      await once(service.child, 'exit')
    }
    over = true
    await Promise.all(writing)
    const leases = await db.rows<{ held: string }>(
      `select event_id || ' ' || lease as held from deliveries where lease is not null`,
    )
    for (const { held } of leases) underWay.add(held)
    say(`round ${round + 1}: ${acknowledged.size} acknowledged, ${arrivals.size} arrived`)
    if (!options.strike) service = await start()
  }
  await options.wait(db)
  for (let tries = 0; tries < 1200; tries++) {
    if ((await db.first<{ n: number }>('select count(*) as n from deliveries'))?.n === 0) break
    await sleep(50)
  }
  await service.stop()
  receiver.closeAllConnections()
  receiver.close()
  const lost = [...acknowledged].filter((id) => !arrivals.has(id)).length
  const repeats = [...arrivals.values()].reduce((sum, count) => sum + count - 1, 0)
  return { acknowledged: acknowledged.size, arrived: arrivals.size, lost, repeats, inFlight: underWay.size }
}

async function prepare(db: Database, hookUrl: string): Promise<{ path: string; phoneNumberId: string }> {
  const { id: workspaceId } = await createWorkspace(db, systemClock, 'crash')
  const rules = { allowHttp: true, allowRanges: [], resolve: async () => [] }
  const wish = {
    workspaceId,
    name: 'receiver',
    url: hookUrl.replace('127.0.0.1', 'localhost'),
    events: ['message.received'],
  }
  await createWebhook(db, systemClock, secretKeys, rules, wish)
  const app = await createApp(db, systemClock, secretKeys, {
    name: 'crash',
    appSecret,
    verifyToken: 'crash',
    graphUrl: 'http://127.0.0.1:9',
  })
  const connectionId = newUuid()
  const phoneNumberId = '99000000001'
  await db.change(
    `insert into connections (id, workspace_id, app_id, waba_id, access_token_sealed, created_at, sync_due_at)
     values ($1, $2, $3, '1', 'none', now(), 'infinity')`,
    [connectionId, workspaceId, app.id],
  )
  await db.change(
    `insert into senders (id, workspace_id, connection_id, app_id, phone_number_id, phone_number, status,
       quality_rating, created_at, updated_at)
     values ($1, $2, $3, $4, $5, '15550780001', 'CONNECTED', 'GREEN', now(), now())`,
    [newUuid(), workspaceId, connectionId, app.id, phoneNumberId],
  )
  return { path: `/network/whatsapp/${app.id}`, phoneNumberId }
}

/** Whether the ingress took them. */
async function post(url: string, phoneNumberId: string, ids: readonly string[]): Promise<boolean> {
  const value = {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550780001', phone_number_id: phoneNumberId },
    contacts: [{ profile: { name: 'Ana' }, wa_id: '16505550123' }],
    messages: ids.map((id) => ({
      from: '16505550123',
      id,
      timestamp: '1786000000',
      type: 'text',
      text: { body: 'hi' },
    })),
  }
  const body = JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: '1', changes: [{ field: 'messages', value }] }],
  })
  const signature = createHmac('sha256', appSecret).update(body).digest('hex')
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` }
  try {
    const answer = await fetch(url, { method: 'POST', headers, body })
    await answer.arrayBuffer()
    return answer.status === 200
  } catch {
    return false
  }
}
