import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allArrivals } from './arrivals.ts'
import { putUnderLoad } from './load.ts'
import { appSecret, prepare, webhookOf } from './prepare.ts'
import { startTarget, type Target } from './process.ts'

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
 * Measures the path from WhatsApp's webhook to the signed delivery at a local receiver, in one process with everything that
 * the product does: it checks the signature, deduplicates and stores the message, and records event, delivery and attempt.
 * For comparison, `raw-limit` does the same without storing anything.
 */
export async function benchDeliver(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  const receiver = await startTarget('receiver')
  const hookUrl = `http://127.0.0.1:${receiver.port}/`
  const appId = await prepare(dataDir, [hookUrl])
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
      report(`${size} per request, at full speed`, best)
    }
    const paced = new Map<string, Figures>()
    for (let round = 0; round < rounds; round++) {
      for (const [name, target] of targets) {
        const figures = await measure(target, receiver, appId, { size: 1, count: 4_000, pace: 500 })
        if (figures.p99Ms < (paced.get(name)?.p99Ms ?? Number.POSITIVE_INFINITY)) paced.set(name, figures)
      }
    }
    report('500 events per second', paced)
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

/** Sends `count` messages, `size` in each webhook, and waits until all have arrived. */
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
  if (Object.keys(statuses).join() !== '200') console.log(`  statuses: ${JSON.stringify(statuses)}`)
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
