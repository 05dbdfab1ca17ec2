import type { Message } from '@parley/contract/message'
import { scopes } from '@parley/contract/scopes'
import { startSimulator } from '@parley/simulator/start'
import { expect, onTestFinished, test } from 'vitest'
import { callApi } from '../../../testing/call.ts'
import { newDatabase } from '../../../testing/database.ts'
import { type ServiceProcess, spawnService } from '../../../testing/service.ts'
import { until } from '../../../testing/until.ts'
import { openDatabase } from '../../db/db.ts'
import { FakeClock, systemClock } from '../../lib/clock.ts'
import { newLogger } from '../../lib/logger.ts'
import { GraphClient } from '../../whatsapp/client.ts'
import { createApp, ingressPath } from '../connections/apps.ts'
import { createConnection } from '../connections/connections.ts'
import { newNetwork } from '../connections/network.ts'
import { giveCredits, proveLedger, statementOf } from '../credits/credits.ts'
import { createKey } from '../keys/keys.ts'
import { createWorkspace } from '../workspaces/workspaces.ts'
import { newOutbox } from './outbox.ts'

const log = newLogger('silent')
/** As `spawnService` has them. */
const secretKeys = new Map([['test', Buffer.alloc(32, 7)]])

async function setUp() {
  const made = await newDatabase()
  const db = openDatabase(made.connection, () => {}, 4)
  const simulator = await startSimulator({ port: 0, dataset: 'demo' })
  const client = new GraphClient({ productVersion: 'test' })
  onTestFinished(async () => {
    await client.close()
    await simulator.stop()
    await db.close()
    await made.drop()
  })
  const { control } = simulator
  control.switches.set({ customerWindow: false, deliveredAfterMs: 0, readAfterMs: 0, answerAfterMs: 60 })
  control.webhooks.configure({ retryMs: [20, 20, 20, 20, 20, 20, 50] })
  const [there] = control.apps.list()
  const { id: workspaceId } = await createWorkspace(db, systemClock, 'Shop')
  await giveCredits(db, systemClock, workspaceId, 1000, 'test')
  const key = { workspaceId, name: 'k', scopes, budget: 100, createdBy: 'test' }
  const { secret } = await createKey(db, systemClock, key)
  const app = await createApp(db, systemClock, secretKeys, {
    name: 'app',
    appSecret: there?.secret ?? '',
    verifyToken: there?.verifyToken ?? '',
    graphUrl: simulator.url,
  })
  const parts = { db, secretKeys, client }
  const wabaId = control.wabas.list()[0]?.id ?? ''
  const accessToken = control.tokens.list()[0]?.token ?? ''
  const network = newNetwork({ ...parts, clock: systemClock })
  await createConnection(network, { workspaceId, appId: app.id, wabaId, accessToken })
  const [sender] = await db.rows<{ id: string }>('select id from senders order by id limit 1')
  return {
    db,
    control,
    workspaceId,
    secret,
    senderId: `snd_${sender?.id}`,
    async start(): Promise<ServiceProcess> {
      const service = await spawnService(made.connection)
      onTestFinished(() => void service.child.kill('SIGKILL'))
      await control.apps.setCallback(there?.id ?? '', { url: service.url + ingressPath(app.id) })
      return service
    },
    /** Sends as it will be done so much later. */
    async drainLater(ms: number) {
      const clock = new FakeClock(new Date(Date.now() + ms))
      await newOutbox(newNetwork({ ...parts, clock }), log).drain()
      await control.settled()
    },
  }
}

test('killed outright in the midst of sending: each message is at the network once, or failed with a refund', async () => {
  const { db, control, start, drainLater, senderId, secret, workspaceId } = await setUp()
  const accepted = new Map<string, string>()
  for (const [round, momentMs] of [20, 60, 110].entries()) {
    const service = await start()
    const sends = Array.from({ length: 20 }, async (_, n) => {
      const to = String(16_505_550_100 + round * 20 + n)
      const body = { sender_id: senderId, to, type: 'text', text: { body: 'hi' } }
      const { status, body: message } = await callApi(`${service.url}/v1/messages`, {
        method: 'POST',
        key: secret,
        body,
      })
      if (status === 202) accepted.set((message as Message).id, to)
    })
    await Promise.race(sends)
    await new Promise((resolve) => setTimeout(resolve, momentMs))
    service.child.kill('SIGKILL')
    await Promise.allSettled(sends)
  }
  const last = await start()
  await control.settled()
  const messages = () =>
    db.rows<{ id: string; recipient: string; status: string }>(
      'select id, recipient, status from messages where workspace_id = $1',
      [workspaceId],
    )
  const takenBy = (phone: string) =>
    control.phones.messages(phone).filter(({ direction }) => direction === 'out').length
  for (const minutes of [2, 4]) await drainLater(minutes * 60_000)
  await until('the network has told of all it has', async () =>
    (await messages()).every(({ recipient, status }) => takenBy(recipient) === 0 || status === 'read'),
  )
  for (const hours of [2, 4]) await drainLater(hours * 3_600_000)

  const rows = await messages()
  expect(accepted.size).toBeGreaterThan(0)
  for (const id of accepted.keys()) expect(rows.map((row) => `msg_${row.id}`)).toContain(id)
  for (const { recipient, status } of rows) {
    const taken = takenBy(recipient)
    expect([status, taken]).toEqual(taken === 1 ? ['read', 1] : ['failed', 0])
  }
  const kinds = Map.groupBy(await statementOf(db, workspaceId, 1000), ({ kind }) => kind)
  expect(kinds.get('debit')).toHaveLength(rows.length)
  expect(kinds.get('refund') ?? []).toHaveLength(rows.filter(({ status }) => status === 'failed').length)
  expect(await proveLedger(db, log)).toEqual([])
  expect(await db.rows('select 1 from outbox')).toEqual([])
  expect(await last.stop()).toBe(0)
}, 90_000)
