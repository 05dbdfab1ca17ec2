import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { scopes } from '@parley/contract/scopes'
import { startSimulator } from '@parley/simulator/start'
import { expect, onTestFinished, test } from 'vitest'
import { newDatabase } from '../../../testing/database.ts'
import { secretKeys, spawnService } from '../../../testing/service.ts'
import { until } from '../../../testing/until.ts'
import { upload } from '../../../testing/uploads.ts'
import { openDatabase } from '../../db/db.ts'
import { systemClock } from '../../lib/clock.ts'
import { GraphClient } from '../../whatsapp/client.ts'
import { createApp, ingressPath } from '../connections/apps.ts'
import { createConnection } from '../connections/connections.ts'
import { newNetwork } from '../connections/network.ts'
import { giveCredits } from '../credits/credits.ts'
import { createKey } from '../keys/keys.ts'
import { createWorkspace } from '../workspaces/workspaces.ts'

const videoBytes = 16_000_000
/** Videos at the same time: no more than a workspace may have in progress, which is half of 16. */
const videoCount = 6
/** Holding the videos that are in progress would take 96 MB, and copies of them more. */
const growthMaxMB = 75

/** The most memory that a process has had, in megabytes. */
const peakMemoryMB = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000

/** The service in its own process, connected to a simulated network. */
async function setUp() {
  const database = await newDatabase()
  const db = openDatabase(database.connection, () => {}, 4)
  const simulator = await startSimulator({ port: 0 })
  const client = new GraphClient({ productVersion: 'test' })
  onTestFinished(async () => {
    await client.close()
    await simulator.stop()
    await db.close()
    await database.drop()
  })
  const { control } = simulator
  const service = await spawnService(database.connection)
  onTestFinished(() => void service.child.kill('SIGKILL'))
  const { id: workspaceId } = await createWorkspace(db, systemClock, 'Videos')
  const input = { workspaceId, name: 'k', scopes, budget: 100, createdBy: 'test' }
  const { secret } = await createKey(db, systemClock, input)
  await giveCredits(db, systemClock, workspaceId, 100, 'test')
  const networkApp = control.apps.create({})
  const { id: wabaId } = control.wabas.create({ appIds: [] })
  const phoneNumber = '15553000001'
  control.numbers.create({ wabaId, phoneNumber, verifiedName: 'Videos' })
  const { token } = control.tokens.create({ appId: networkApp.id, wabaIds: [wabaId] })
  const secrets = { name: 'app', appSecret: networkApp.secret, verifyToken: 'verify-me', graphUrl: simulator.url }
  const app = await createApp(db, systemClock, secretKeys, secrets)
  const network = newNetwork({ db, clock: systemClock, secretKeys, client })
  await createConnection(network, { workspaceId, appId: app.id, wabaId, accessToken: token })
  const callback = { url: service.url + ingressPath(app.id), verifyToken: 'verify-me' }
  await control.apps.setCallback(networkApp.id, callback)
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(service.url + path, { headers: { authorization: `Bearer ${secret}`, ...headers } })
  return { db, control, phoneNumber, service, secret, get }
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

test('16 MB videos are received, served with ranges and sent on by their uploaded IDs, and memory stays flat', async () => {
  const { db, control, phoneNumber, service, secret, get } = await setUp()
  const bytes = randomBytes(videoBytes)
  const base64 = bytes.toString('base64')
  const phoneOf = (index: number) => String(16_505_551_000 + index)

  const fetchedFrom = (phone: string) =>
    db.first<{ id: string }>(
      `select m.id from inbound_messages m join flow_files f on f.message_id = m.id
       where m.sent_by = $1 and f.state = 'fetched'`,
      [phone],
    )

  /** Receives, serves, uploads and sends these videos, all at the same time. */
  async function pass(indexes: readonly number[]): Promise<void> {
    await Promise.all(
      indexes.map((index) => control.phones.video(phoneOf(index), { to: phoneNumber, base64, mimeType: 'video/mp4' })),
    )
    await control.idle()
    await Promise.all(
      indexes.map(async (index) => {
        const { id } = await until('the video is fetched', () => fetchedFrom(phoneOf(index)), 60_000)
        const path = `/v1/inbound_messages/msg_${id}/media`
        const part = await get(path, { range: 'bytes=7999000-8001000' })
        expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(7_999_000, 8_001_001))).toBe(true)
        const whole = Buffer.from(await (await get(path)).arrayBuffer())
        expect(sha256(whole)).toBe(sha256(bytes))
        const { status, body: media } = await upload({ url: service.url, secret }, whole, { mimeType: 'video/mp4' })
        expect([status, media]).toMatchObject([201, { size: videoBytes, sha256: sha256(bytes) }])
        const sent = await fetch(`${service.url}/v1/messages`, {
          method: 'POST',
          headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
          body: JSON.stringify({ to: phoneOf(index), type: 'video', video: { id: media.id } }),
        })
        expect(sent.status, await sent.text()).toBe(202)
      }),
    )
    for (const index of indexes) {
      const message = await until(
        'the video has arrived',
        () => control.phones.messages(phoneOf(index), phoneNumber).find(({ direction }) => direction === 'out'),
        60_000,
      )
      expect(JSON.stringify(message.content)).toMatch(/"id":"\d+"/)
    }
  }

  // Loads all code and fills the caches.
  await pass([0])
  const before = peakMemoryMB(service.child.pid ?? 0)
  await pass(Array.from({ length: videoCount }, (_, index) => index + 1))
  const growth = peakMemoryMB(service.child.pid ?? 0) - before
  expect(growth, `grew from ${before} MB`).toBeLessThan(growthMaxMB)
}, 480_000)
