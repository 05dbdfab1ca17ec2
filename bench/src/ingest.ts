import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@parley/server/config'
import { openStore } from '@parley/server/db/store'
import { createApp } from '@parley/server/domain/connections/apps'
import { createWebhook } from '@parley/server/domain/webhooks/webhooks'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import { newUuid } from '@parley/server/lib/ids'
import { newLogger } from '@parley/server/lib/logger'
import { type Measured, putUnderLoad } from './load.ts'
import { startTarget, type Target } from './process.ts'

const workspaceCount = 20
const endpointsEach = 2
const connections = 32
const seconds = Number(process.env.BENCH_SECONDS ?? 5)
const appSecret = 'bench-app-secret'
/** The endpoints' names are not asked for: nothing is measured there. */
const nowhere = { allowHttp: false, allowRanges: [], resolve: async () => [] }

/**
 * Webhooks of the network over twenty workspaces, each with two endpoints that listen: every update is checked, kept once,
 * and published as an event with two deliveries before it is answered.
 */
export async function benchIngest(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  try {
    const { appId, numbers } = await prepare(dataDir)
    const target = await startTarget('parley', dataDir)
    try {
      await measure(target, appId, numbers, 1, 1, 3000)
      for (const size of [1, 10, 100]) await measurePeakAndHalf(target, appId, numbers, size)
    } finally {
      await target.stop()
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function measurePeakAndHalf(target: Target, appId: string, numbers: readonly string[], size: number) {
  const before = target.cpuUs()
  // More than any machine of ours takes in the time; the load ends with the time, not with the requests.
  const peak = await measure(target, appId, numbers, size, seconds, Math.ceil((seconds * 40_000) / size))
  const updates = peak.perSecond * size
  const cpu = (target.cpuUs() - before) / (updates * seconds)
  console.log(
    `batches of ${String(size).padEnd(4)} peak ${updates.toFixed(0).padStart(6)} updates/s  p99 ${peak.p99Ms.toFixed(1)} ms  CPU ${cpu.toFixed(0)} µs an update  ${JSON.stringify(peak.statuses)}`,
  )
  const pace = peak.perSecond / 2
  const half = await measure(target, appId, numbers, size, seconds, Math.ceil(pace * seconds), pace)
  const met = half.p99Ms < 100 ? 'met' : 'MISSED'
  console.log(
    `               half ${(half.perSecond * size).toFixed(0).padStart(6)} updates/s  p99 ${half.p99Ms.toFixed(1)} ms  (target: under 100 ms: ${met})`,
  )
}

function measure(
  target: Target,
  appId: string,
  numbers: readonly string[],
  size: number,
  forSeconds: number,
  count: number,
  pace?: number,
): Promise<Measured> {
  const requests = Array.from({ length: count }, () => webhookOf(appId, numbers, size))
  const load = { port: target.port, connections, seconds: forSeconds, requests, once: true }
  return putUnderLoad(pace === undefined ? load : { ...load, pace })
}

/** A webhook with `size` messages, spread over numbers as the network may do. */
function webhookOf(appId: string, numbers: readonly string[], size: number): Buffer {
  const changes = Array.from({ length: size }, () => {
    const number = numbers[Math.trunc(Math.random() * numbers.length)]
    const from = `1650555${String(Math.trunc(Math.random() * 10_000)).padStart(4, '0')}`
    const message = {
      from,
      id: `wamid.${newUuid()}`,
      timestamp: '1786000000',
      type: 'text',
      text: { body: 'Hello there' },
    }
    const value = {
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: '15550780001', phone_number_id: number },
      contacts: [{ profile: { name: 'Ana' }, wa_id: from }],
      messages: [message],
    }
    return { field: 'messages', value }
  })
  const body = JSON.stringify({ object: 'whatsapp_business_account', entry: [{ id: '1', changes }] })
  const signature = createHmac('sha256', appSecret).update(body).digest('hex')
  return Buffer.from(
    `POST /network/whatsapp/${appId} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nX-Hub-Signature-256: sha256=${signature}\r\n\r\n${body}`,
  )
}

async function prepare(dataDir: string): Promise<{ appId: string; numbers: string[] }> {
  const config = readConfig({ PARLEY_DATA_DIR: dataDir })
  const store = await openStore(config, { purpose: 'visitor', log: newLogger('silent') })
  try {
    const { db } = store
    const now = systemClock.now()
    const wish = { name: 'bench', appSecret, verifyToken: 'bench', graphUrl: 'http://127.0.0.1:9' }
    const app = await createApp(db, systemClock, config.secretKeys(), wish)
    const numbers: string[] = []
    for (let n = 0; n < workspaceCount; n++) {
      const { id: workspaceId } = await createWorkspace(db, systemClock, `bench ${n}`)
      for (let e = 0; e < endpointsEach; e++) {
        const endpoint = {
          workspaceId,
          name: `bench ${e}`,
          url: 'https://receiver.example/',
          events: ['message.received'],
        }
        await createWebhook(db, systemClock, config.secretKeys(), nowhere, endpoint)
      }
      const connectionId = newUuid()
      const number = `9000000000${String(n).padStart(5, '0')}`
      await db.change(
        `insert into connections (id, workspace_id, app_id, waba_id, access_token_sealed, created_at, sync_due_at)
         values ($1, $2, $3, $4, 'none', $5, 'infinity')`,
        [connectionId, workspaceId, app.id, String(n), now],
      )
      await db.change(
        `insert into senders (id, workspace_id, connection_id, app_id, phone_number_id, phone_number, status,
           quality_rating, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $5, 'CONNECTED', 'GREEN', $6, $6)`,
        [newUuid(), workspaceId, connectionId, app.id, number, now],
      )
      numbers.push(number)
    }
    return { appId: app.id, numbers }
  } finally {
    await store.close()
  }
}
