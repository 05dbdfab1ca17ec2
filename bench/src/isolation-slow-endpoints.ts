import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@parley/server/config'
import { openStore } from '@parley/server/db/store'
import { createWebhook, listAllWebhooks } from '@parley/server/domain/webhooks/webhooks'
import { systemClock } from '@parley/server/lib/clock'
import { newLogger } from '@parley/server/lib/logger'
import { allArrivals } from './arrivals.ts'
import { putUnderLoad } from './load.ts'
import { numberAt, prepare, webhookOf } from './prepare.ts'
import { startTarget, type Target } from './process.ts'

const slowEndpoints = 64
const slowMs = 9_000
const slowPace = 20
const pace = 5
const seconds = 30

/** A workspace with 64 endpoints that respond after nine seconds, next to another workspace: 20 and 5 messages per second. */
export async function slowEndpointsOfAnother(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  const receiver = await startTarget('receiver')
  const slow = createServer((request, response) => {
    request.resume()
    setTimeout(() => response.end(), slowMs)
  })
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
  const slowUrl = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/`
  const appId = await prepare(dataDir, [`http://127.0.0.1:${receiver.port}/`, slowUrl])
  await addEndpoints(dataDir, slowUrl)
  const target = await startTarget('parley', dataDir)
  try {
    await measure(target, receiver, appId)
    const alone = await measure(target, receiver, appId)
    const requests = Array.from({ length: slowPace * (seconds + 10) }, () => webhookOf(appId, 0, 1, numberAt(1)))
    const load = { port: target.port, connections: 8, seconds: 120, requests, once: true, pace: slowPace }
    const loading = putUnderLoad(load)
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    const withSlow = await measure(target, receiver, appId)
    await loading
    console.log(`a workspace at ${pace} messages/s, from ingress to receiver`)
    console.log(
      `  alone                                        p50 ${alone.p50Ms.toFixed(1)} ms  p99 ${alone.p99Ms.toFixed(1)} ms`,
    )
    console.log(
      `  next to ${slowEndpoints} slow endpoints of another, ${slowPace}/s   p50 ${withSlow.p50Ms.toFixed(1)} ms  p99 ${withSlow.p99Ms.toFixed(1)} ms`,
    )
    console.log(
      `  p99 ${(withSlow.p99Ms / alone.p99Ms).toFixed(2)} times (target: at most 2)  missing ${withSlow.missing}`,
    )
  } finally {
    await target.stop()
    await receiver.stop()
    slow.closeAllConnections()
    slow.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Adds the other endpoints of the second workspace. */
async function addEndpoints(dataDir: string, url: string): Promise<void> {
  const config = readConfig({ PARLEY_DATA_DIR: dataDir })
  const store = await openStore(config, { purpose: 'visitor', schema: 'migrate', log: newLogger('silent') })
  try {
    const { db } = store
    const first = (await listAllWebhooks(db)).find(({ webhook }) => webhook.url === url)
    const endpoint = { workspaceId: first?.workspaceId ?? '', name: 'slow', url, events: ['message.received'] }
    for (let index = 1; index < slowEndpoints; index++) {
      await createWebhook(db, systemClock, config.secretKeys(), config.targetRules, endpoint)
    }
  } finally {
    await store.close()
  }
}

async function measure(target: Target, receiver: Target, appId: string) {
  const count = pace * seconds
  const requests = Array.from({ length: count }, (_, index) => webhookOf(appId, index, 1, numberAt(0)))
  const started = performance.timeOrigin + performance.now()
  await putUnderLoad({ port: target.port, connections: 4, seconds: 120, requests, once: true, pace })
  const { times } = await allArrivals(receiver, count)
  const sorted = Float64Array.from(times.map((time, number) => time - started - (number / pace) * 1000)).sort()
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { p50Ms: at(0.5), p99Ms: at(0.99), missing: count - times.length }
}
