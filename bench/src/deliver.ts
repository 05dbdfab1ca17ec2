import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig } from '@parley/server/config'
import { openStore } from '@parley/server/db/store'
import { createApp } from '@parley/server/domain/connections/apps'
import { createWebhook } from '@parley/server/domain/webhooks/webhooks'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import { newUuid } from '@parley/server/lib/ids'
import { newLogger } from '@parley/server/lib/logger'
import { putUnderLoad } from './load.ts'
import { startTarget, type Target } from './process.ts'

const appSecret = 'bench-app-secret'
const phoneNumberId = '90000000000001'
const connections = 64
const events = Number(process.env.BENCH_EVENTS ?? 12_000)
const rounds = Number(process.env.BENCH_ROUNDS ?? 3)

interface Figures {
  perSecond: number
  cpuPer1000: number
  p50Ms: number
  p99Ms: number
  missing: number
  repeats: number
}

/**
 * From the network's webhook to the signed delivery at a local receiver, in one process with all that the product does:
 * signature checked, message kept once, event, delivery and attempt recorded. Beside it the same path with nothing kept.
 */
export async function benchDeliver(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  const receiver = await startTarget('receiver')
  const hookUrl = `http://127.0.0.1:${receiver.port}/`
  const appId = await prepare(dataDir, hookUrl)
  const targets: [string, Target][] = [
    ['raw-limit', await startTarget('raw-limit', `${appSecret} ${hookUrl}`)],
    ['parley', await startTarget('parley', dataDir)],
  ]
  try {
    for (const [, target] of targets) await measure(target, receiver, appId, { size: 10, count: 5_000 })
    for (const size of [1, 10]) {
      const best = new Map<string, Figures>()
      for (let round = 0; round < rounds; round++) {
        for (const [name, target] of targets) {
          const figures = await measure(target, receiver, appId, { size, count: events })
          if (figures.perSecond > (best.get(name)?.perSecond ?? 0)) best.set(name, figures)
        }
      }
      report(`${size} a request, as fast as it goes`, best)
    }
    const paced = new Map<string, Figures>()
    for (let round = 0; round < rounds; round++) {
      for (const [name, target] of targets) {
        const figures = await measure(target, receiver, appId, { size: 1, count: 4_000, pace: 500 })
        if (figures.p99Ms < (paced.get(name)?.p99Ms ?? Number.POSITIVE_INFINITY)) paced.set(name, figures)
      }
    }
    report('500 events a second', paced)
  } finally {
    for (const [, target] of targets) await target.stop()
    await receiver.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function report(what: string, figures: ReadonlyMap<string, Figures>): void {
  console.log(what)
  const raw = figures.get('raw-limit')
  for (const [name, each] of figures) {
    const share = raw && name !== 'raw-limit' ? `  ${(each.perSecond / raw.perSecond).toFixed(2)} of raw-limit` : ''
    console.log(
      `  ${name.padEnd(10)}${each.perSecond.toFixed(0).padStart(7)} events/s  CPU ${each.cpuPer1000.toFixed(2)} s per 1,000  p50 ${each.p50Ms.toFixed(1)} ms  p99 ${each.p99Ms.toFixed(1)} ms  missing ${each.missing}  repeats ${each.repeats}${share}`,
    )
  }
}

/** `count` messages, `size` in each webhook, until all have arrived. */
async function measure(
  target: Target,
  receiver: Target,
  appId: string,
  { size, count, pace }: { size: number; count: number; pace?: number },
): Promise<Figures> {
  const requests = Array.from({ length: Math.ceil(count / size) }, (_, index) => webhookOf(appId, index * size, size))
  const cpuBefore = target.treeCpuUs()
  const started = performance.timeOrigin + performance.now()
  const load = { port: target.port, connections, seconds: 120, requests, once: true }
  const { statuses } = await putUnderLoad(pace === undefined ? load : { ...load, pace: pace / size })
  const arrivals = await allArrivals(receiver, count)
  if (Object.keys(statuses).join() !== '200') console.log(`  answers: ${JSON.stringify(statuses)}`)
  const latencies = Float64Array.from(
    arrivals.times.map((time, number) => time - started - (pace === undefined ? 0 : (number / pace) * 1000)),
  ).sort()
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN
  return {
    perSecond: (arrivals.times.length / (Math.max(...arrivals.times) - started)) * 1000,
    cpuPer1000: (target.treeCpuUs() - cpuBefore) / 1e6 / (count / 1000),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    missing: count - arrivals.times.length,
    repeats: arrivals.repeats,
  }
}

/** Asked only when all should be there: asking would cost the receiver time. */
async function allArrivals(receiver: Target, count: number): Promise<{ times: number[]; repeats: number }> {
  const times: number[] = []
  let repeats = 0
  for (let tries = 0; tries < 100; tries++) {
    await sleep(300)
    const answer = await fetch(`http://127.0.0.1:${receiver.port}/`)
    const got = (await answer.json()) as { arrivals: (number | null)[]; repeats: number }
    repeats += got.repeats
    got.arrivals.forEach((time, number) => {
      if (time !== null && times[number] === undefined) times[number] = time
      else if (time !== null) repeats++
    })
    if (Object.keys(times).length >= count) break
  }
  return { times: times.filter((time) => time !== undefined), repeats }
}

function webhookOf(appId: string, first: number, size: number): Buffer {
  const messages = Array.from({ length: size }, (_, index) => ({
    from: '16505550123',
    id: `wamid.${newUuid()}`,
    timestamp: '1786000000',
    type: 'text',
    text: { body: `Hello there, number:${first + index};` },
  }))
  const value = {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550780001', phone_number_id: phoneNumberId },
    contacts: [{ profile: { name: 'Ana' }, wa_id: '16505550123' }],
    messages,
  }
  const changes = [{ field: 'messages', value }]
  const body = JSON.stringify({ object: 'whatsapp_business_account', entry: [{ id: '1', changes }] })
  const signature = createHmac('sha256', appSecret).update(body).digest('hex')
  return Buffer.from(
    `POST /network/whatsapp/${appId} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nX-Hub-Signature-256: sha256=${signature}\r\n\r\n${body}`,
  )
}

/** A workspace with one number and one endpoint. */
async function prepare(dataDir: string, hookUrl: string): Promise<string> {
  const config = readConfig({ PARLEY_DATA_DIR: dataDir })
  const store = await openStore(config, { purpose: 'visitor', log: newLogger('silent') })
  try {
    const { db } = store
    const now = systemClock.now()
    const wish = { name: 'bench', appSecret, verifyToken: 'bench', graphUrl: 'http://127.0.0.1:9' }
    const app = await createApp(db, systemClock, config.secretKeys(), wish)
    const { id: workspaceId } = await createWorkspace(db, systemClock, 'bench')
    const rules = { allowHttp: config.webhookAllowHttp, allowRanges: config.webhookAllowRanges }
    const endpoint = { workspaceId, name: 'bench', url: hookUrl, events: ['message.received'] }
    await createWebhook(db, systemClock, config.secretKeys(), rules, endpoint)
    const connectionId = newUuid()
    await db.change(
      `insert into connections (id, workspace_id, app_id, waba_id, access_token_sealed, created_at, sync_due_at)
       values ($1, $2, $3, '1', 'none', $4, 'infinity')`,
      [connectionId, workspaceId, app.id, now],
    )
    await db.change(
      `insert into senders (id, workspace_id, connection_id, app_id, phone_number_id, phone_number, status,
         quality_rating, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $5, 'CONNECTED', 'GREEN', $6, $6)`,
      [newUuid(), workspaceId, connectionId, app.id, phoneNumberId, now],
    )
    return app.id
  } finally {
    await store.close()
  }
}
