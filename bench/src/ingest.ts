import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Measured, putUnderLoad } from './load.ts'
import { numberAt, prepare, webhookOf } from './prepare.ts'
import { startTarget, type Target } from './process.ts'

const workspaces = 40
const connections = 32
const seconds = Number(process.env.BENCH_SECONDS ?? 5)

/**
 * Webhooks of WhatsApp for forty workspaces. Every update is verified, deduplicated, stored and published as an event with a
 * delivery before the response. Every receiver takes two seconds per delivery, which must not slow the ingress down.
 */
export async function benchIngest(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  const receiver = await startTarget('slow-receiver')
  try {
    const appId = await prepare(dataDir, Array(workspaces).fill(`http://127.0.0.1:${receiver.port}/`))
    const target = await startTarget('parley', dataDir)
    try {
      await measure(target, appId, 1, 3, 20_000)
      for (const size of [1, 10, 100]) await measurePeakAndHalf(target, appId, size)
    } finally {
      await target.stop()
    }
  } finally {
    await receiver.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function measurePeakAndHalf(target: Target, appId: string, size: number): Promise<void> {
  const before = target.cpuUs()
  // More requests than can be sent, so that the load ends by time.
  const peak = await measure(target, appId, size, seconds, Math.ceil((seconds * 40_000) / size))
  const updates = peak.perSecond * size
  const cpu = ((target.cpuUs() - before) / (updates * seconds)).toFixed(0)
  const responses = JSON.stringify(peak.statuses)
  console.log(
    `batches of ${size}: peak ${updates.toFixed(0)} updates/s, CPU ${cpu} µs per update, statuses ${responses}`,
  )
  const pace = peak.perSecond / 2
  const half = await measure(target, appId, size, seconds, Math.ceil(pace * seconds), pace)
  const target100 = `target: under 100 ms: ${half.p99Ms < 100 ? 'met' : 'MISSED'}`
  console.log(
    `  at half of the peak: ${(half.perSecond * size).toFixed(0)} updates/s, p99 ${half.p99Ms.toFixed(1)} ms (${target100})`,
  )
}

function measure(
  target: Target,
  appId: string,
  size: number,
  forSeconds: number,
  count: number,
  pace?: number,
): Promise<Measured> {
  const requests = Array.from({ length: count }, (_, n) => webhookOf(appId, n * size, size, numberAt(n % workspaces)))
  const load = { port: target.port, connections, seconds: forSeconds, requests, once: true }
  return putUnderLoad(pace === undefined ? load : { ...load, pace })
}
