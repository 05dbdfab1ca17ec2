import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allArrivals } from './arrivals.ts'
import { benchFrozenDatabase } from './isolation-frozen-database.ts'
import { benchHangingNames } from './isolation-hanging-names.ts'
import { benchInvalidSignatures } from './isolation-invalid-signatures.ts'
import { benchLogFlood } from './isolation-log-flood.ts'
import { manyEndpoints } from './isolation-many-endpoints.ts'
import { slowEndpointsOfAnother } from './isolation-slow-endpoints.ts'
import { putUnderLoad } from './load.ts'
import { numberAt, prepare, webhookOf } from './prepare.ts'
import { startTarget, type Target } from './process.ts'

const healthy = 50
const waiting = Number(process.env.BENCH_WAITING ?? 50_000)
const pace = 300
const count = 3_000

export async function benchIsolation(): Promise<void> {
  await hangingEndpoint()
  await slowEndpointsOfAnother()
  await manyEndpoints()
  await benchHangingNames()
  await benchInvalidSignatures()
  await benchFrozenDatabase()
  await benchLogFlood()
}

/** Fifty healthy endpoints at a steady pace, first alone, then with an endpoint that never responds and has 50,000 deliveries waiting. */
async function hangingEndpoint(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  const receiver = await startTarget('receiver')
  const hanging = createServer(() => {})
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve))
  const good = `http://127.0.0.1:${receiver.port}/`
  const bad = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}/`
  const appId = await prepare(dataDir, [...Array<string>(healthy).fill(good), bad])
  const target = await startTarget('parley', dataDir)
  try {
    await measure(target, receiver, appId)
    const alone = await measure(target, receiver, appId)
    const requests = Array.from({ length: waiting / 100 }, () => webhookOf(appId, 0, 100, numberAt(healthy)))
    await putUnderLoad({ port: target.port, connections: 4, seconds: 120, requests, once: true })
    const withHanging = await measure(target, receiver, appId)
    console.log(`${healthy} endpoints at ${pace} events/s, from ingress to receiver`)
    console.log(
      `  alone                              p50 ${alone.p50Ms.toFixed(1)} ms  p99 ${alone.p99Ms.toFixed(1)} ms`,
    )
    console.log(
      `  with a hanging one, ${waiting} waiting     p50 ${withHanging.p50Ms.toFixed(1)} ms  p99 ${withHanging.p99Ms.toFixed(1)} ms`,
    )
    console.log(
      `  p99 ${(withHanging.p99Ms / alone.p99Ms).toFixed(2)} times (target: at most 2)  missing ${withHanging.missing}`,
    )
  } finally {
    await target.stop()
    await receiver.stop()
    hanging.closeAllConnections()
    hanging.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function measure(target: Target, receiver: Target, appId: string) {
  const requests = Array.from({ length: count }, (_, index) => webhookOf(appId, index, 1, numberAt(index % healthy)))
  const started = performance.timeOrigin + performance.now()
  await putUnderLoad({ port: target.port, connections: 32, seconds: 60, requests, once: true, pace })
  const { times } = await allArrivals(receiver, count)
  const sorted = Float64Array.from(times.map((time, number) => time - started - (number / pace) * 1000)).sort()
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { p50Ms: at(0.5), p99Ms: at(0.99), missing: count - times.length }
}
