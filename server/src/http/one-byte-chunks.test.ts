import { once } from 'node:events'
import { scopes } from '@parley/contract/scopes'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { newDatabase } from '../../testing/database.ts'
import { mayIdle } from '../../testing/may-idle.ts'
import { type RawConnection, rawConnection } from '../../testing/raw.ts'
import { type ServiceProcess, secretKeys, spawnService } from '../../testing/service.ts'
import { type Connection, type Database, openDatabase } from '../db/db.ts'
import { createApp } from '../domain/connections/apps.ts'
import { createKey } from '../domain/keys/keys.ts'
import { createWorkspace } from '../domain/workspaces/workspaces.ts'
import { systemClock } from '../lib/clock.ts'
import { newUuid } from '../lib/ids.ts'

/** The service itself needs about 55 MB. 300,000 separate one-byte Buffers would need more than 30 MB. */
const heapMb = 80

let service: ServiceProcess | undefined
let db: Database
let connection: Connection
let dropDatabase: () => Promise<void>
let appId: string
let key: string

beforeAll(async () => {
  const made = await newDatabase()
  connection = made.connection
  dropDatabase = made.drop
  db = openDatabase(connection, () => {}, 4)
  const app = { name: 'app', appSecret: 'secret', verifyToken: 'token', graphUrl: 'http://127.0.0.1:9' }
  appId = (await createApp(db, systemClock, secretKeys, app)).id
  const { id: workspaceId } = await createWorkspace(db, systemClock, 'Shop')
  key = (await createKey(db, systemClock, { workspaceId, name: 'k', scopes, budget: 100, createdBy: 'test' })).secret
})

/** All tests share one process, which is restarted if a test ended it. */
beforeEach(async () => {
  if (service?.child.exitCode === null && service.child.signalCode === null) return
  service = await spawnService(connection, { PARLEY_ROLE: 'api', NODE_OPTIONS: `--max-old-space-size=${heapMb}` })
  // Opens its connections to the database: with many chunks and on a busy machine that takes longer than requests wait for one.
  await fetch(`${url()}/network/whatsapp/${appId}`, { method: 'POST', body: '{}' })
  await fetch(`${url()}/v1/me`, { headers: { authorization: `Bearer ${key}` } })
})

afterAll(async () => {
  service?.child.kill('SIGKILL')
  await db.close()
  await dropDatabase()
})

const url = () => service?.url ?? ''
const wrongSignature = `X-Hub-Signature-256: sha256=${'0'.repeat(64)}\r\n`
const manyChunks = Buffer.from('1\r\nx\r\n'.repeat(10_000))

/** Starts a chunked request and sends its body in one-byte chunks, without ending it. */
async function sendOneByteChunks(head: string, count: number): Promise<RawConnection> {
  const connection = await rawConnection(url())
  connection.send(`${head}Host: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`)
  for (let sent = 0; sent < count && !connection.socket.destroyed; sent += 10_000) {
    if (connection.socket.write(manyChunks)) continue
    await Promise.race([once(connection.socket, 'drain'), once(connection.socket, 'close')])
  }
  return connection
}

test.each([
  ['the ingress', 2, 150_000, 401, () => `POST /network/whatsapp/${appId} HTTP/1.1\r\n${wrongSignature}`],
  ['/v1', 2, 150_000, 400, () => `POST /v1/messages HTTP/1.1\r\nAuthorization: Bearer ${key}\r\n`],
  ['the console', 2, 150_000, 400, () => 'POST /console/api/sign-in HTTP/1.1\r\nOrigin: http://x\r\n'],
])(
  '%s reads bodies of one-byte chunks with a small heap',
  async (_where, sockets, chunks, status, head) => {
    const connections = await Promise.all(Array.from({ length: sockets }, () => sendOneByteChunks(head(), chunks)))
    for (const connection of connections) connection.send('0\r\n\r\n')
    const responses = await Promise.all(connections.map((connection) => connection.responses(1)))
    expect(
      responses.map(([response]) => response?.status),
      JSON.stringify(responses),
    ).toEqual(connections.map(() => status))
    expect((await fetch(`${url()}/healthz`)).status).toBe(200)
    for (const { socket } of connections) socket.destroy()
  },
  60_000,
)

test('requests that wait for the database do not keep one-byte chunks in memory', async () => {
  await db.transaction(async (tx) => {
    await mayIdle(tx)
    await tx.rows('lock table apps in access exclusive mode')
    const connections = await Promise.all(
      Array.from({ length: 60 }, () =>
        sendOneByteChunks(`POST /network/whatsapp/${newUuid()} HTTP/1.1\r\n${wrongSignature}`, 10_000),
      ),
    )
    expect((await fetch(`${url()}/healthz`)).status).toBe(200)
    for (const { socket } of connections) socket.destroy()
  })
})
