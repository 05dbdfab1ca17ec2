import { type Measured, putUnderLoad } from './lib/load.ts'
import { watchNoise } from './lib/noise.ts'
import { prepare, webhooksOf } from './lib/prepare.ts'
import type { Target } from './lib/process.ts'
import type { Scope } from './lib/scope.ts'
import { numberSetting } from './lib/settings.ts'
import { addCounts } from './lib/statistics.ts'
import type { Row } from './lib/table.ts'

const workspaces = 40
const connections = 32
const seconds = numberSetting('BENCH_SECONDS', 5)

/**
 * Webhooks of WhatsApp for forty workspaces. Every update is verified, deduplicated, stored and published as an event with a
 * delivery before the response. Every receiver takes two seconds per delivery, which must not slow the ingress down.
 */
export async function benchIngest(scope: Scope): Promise<Row[]> {
  const dataDir = scope.newFolder()
  const receiver = await scope.startTarget('slow-receiver', '2000')
  const hookUrls = Array<string>(workspaces).fill(`http://127.0.0.1:${receiver.port}/`)
  const { appId } = await prepare(dataDir, { hookUrls })
  const target = await scope.startTarget('parley', dataDir)
  await measure(target, appId, { size: 1, forSeconds: 3, count: 20_000 })
  const rows: Row[] = []
  for (const size of [1, 10, 100]) {
    scope.say(`${size} updates per webhook`)
    rows.push(...(await measurePeakAndHalf(scope, target, appId, size)))
  }
  return rows
}

async function measurePeakAndHalf(scope: Scope, target: Target, appId: string, size: number): Promise<Row[]> {
  const noise = watchNoise()
  const before = target.cpuUs()
  // More requests than can be sent, so that the load ends by time.
  const count = seconds * 40_000
  const peak = await measure(target, appId, { size, forSeconds: seconds, count })
  const updates = peak.perSecond * size
  const cpuUs = (target.cpuUs() - before) / (updates * seconds)
  const pace = peak.perSecond / 2
  const half = await measure(target, appId, {
    size,
    forSeconds: seconds,
    count: Math.ceil(pace * seconds) * size,
    pace,
  })
  const statuses = addCounts([peak.statuses, half.statuses])
  if (Object.keys(statuses).join() !== '200') scope.fault(`responses ${JSON.stringify(statuses)}`)
  const what = `ingress, ${size} per webhook`
  const share = noise()
  return [
    { what: `${what}, peak`, unit: 'updates/s', rounds: [updates], noise: share },
    { what: `${what}, CPU of the process for an update`, unit: 'µs', rounds: [cpuUs], noise: share },
    {
      what: `${what}, p99 at half the peak`,
      unit: 'ms',
      rounds: [half.p99Ms],
      noise: share,
      target: { atMost: 100 },
    },
  ]
}

function measure(
  target: Target,
  appId: string,
  { size, forSeconds, count, pace }: { size: number; forSeconds: number; count: number; pace?: number },
): Promise<Measured> {
  const requests = webhooksOf(appId, count, size, workspaces)
  const load = { port: target.port, connections, seconds: forSeconds, requests, once: true }
  return putUnderLoad(pace === undefined ? load : { ...load, pace })
}
