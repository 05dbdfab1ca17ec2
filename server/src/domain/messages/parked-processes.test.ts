import { startSimulator } from '@parley/simulator/start'
import { expect, onTestFinished, test } from 'vitest'
import { newDatabase } from '../../../testing/database.ts'
import { spawnService } from '../../../testing/service.ts'
import { until } from '../../../testing/until.ts'
import { openDatabase } from '../../db/db.ts'
import { systemClock } from '../../lib/clock.ts'
import { GraphClient } from '../../whatsapp/client.ts'
import { createApp, ingressPath } from '../connections/apps.ts'
import { createConnection } from '../connections/connections.ts'
import { newNetwork } from '../connections/network.ts'
import { createWorkspace } from '../workspaces/workspaces.ts'

/** As `spawnService` has them. */
const secretKeys = new Map([['test', Buffer.alloc(32, 7)]])

async function setUp() {
  const { connection, drop } = await newDatabase()
  const db = openDatabase(connection, () => {}, 4)
  const simulator = await startSimulator({ port: 0, dataset: 'demo' })
  const client = new GraphClient({ productVersion: 'test' })
  onTestFinished(async () => {
    await client.close()
    await simulator.stop()
    await db.close()
    await drop()
  })
  const { control, url: graphUrl } = simulator
  const [there] = control.apps.list()
  const { id: workspaceId } = await createWorkspace(db, systemClock, 'Shop')
  const [appSecret, verifyToken] = [there?.secret ?? '', there?.verifyToken ?? '']
  const app = await createApp(db, systemClock, secretKeys, { name: 'app', appSecret, verifyToken, graphUrl })
  const wabaId = control.wabas.list()[0]?.id ?? ''
  const accessToken = control.tokens.list()[0]?.token ?? ''
  const network = newNetwork({ db, secretKeys, client, clock: systemClock })
  await createConnection(network, { workspaceId, appId: app.id, wabaId, accessToken })
  const start = async (role: 'api' | 'worker') => {
    const service = await spawnService(connection, { PARLEY_ROLE: role })
    onTestFinished(() => void service.child.kill('SIGKILL'))
    if (role === 'api') await control.apps.setCallback(there?.id ?? '', { url: service.url + ingressPath(app.id) })
    return service
  }
  const addNumber = (phoneNumber: string) => control.numbers.create({ wabaId, phoneNumber }).phoneNumber
  const texts = async () =>
    (await db.rows<{ body: Buffer }>('select body from events order by created_at, id')).map(
      ({ body }) => (JSON.parse(body.toString()) as { data: { text: string } }).data.text,
    )
  return { db, control, start, addNumber, texts }
}

const parkedOf = async (db: Awaited<ReturnType<typeof setUp>>['db']) =>
  (await db.first<{ count: number }>('select count(*)::int as count from parked_updates'))?.count

test('what an API process parks is published once, though the worker was killed and two new ones start at once', async () => {
  const { db, control, start, addNumber, texts } = await setUp()
  await start('api')
  const killed = await start('worker')
  killed.child.kill('SIGKILL')
  await new Promise((resolve) => killed.child.once('exit', resolve))
  const number = addNumber('15550780091')
  const wanted = Array.from({ length: 40 }, (_, n) => `message ${n}`)
  for (const text of wanted) {
    await control.phones.say('491701112223', { to: number, text })
    await control.settled()
  }
  expect([await parkedOf(db), await texts()]).toEqual([40, []])
  await Promise.all([start('worker'), start('worker')])
  await until('everything is published', async () => (await texts()).length >= wanted.length)
  expect(await texts()).toEqual(wanted)
  expect(await parkedOf(db)).toBe(0)

  // Now that a worker runs, the API process wakes it: faster than its poll of five seconds.
  const another = addNumber('15550780092')
  const sentMs = Date.now()
  await control.phones.say('491701112223', { to: another, text: 'at once' })
  await until('it is published', async () => (await texts()).includes('at once'))
  expect(Date.now() - sentMs).toBeLessThan(4_500)
}, 90_000)
