import { driveEvents } from './lib/drive.ts'
import { watchNoise } from './lib/noise.ts'
import { prepare, webhooksOf } from './lib/prepare.ts'
import type { Scope } from './lib/scope.ts'
import { numberSetting } from './lib/settings.ts'
import { median } from './lib/statistics.ts'
import { formatNumber, type Row } from './lib/table.ts'

const events = numberSetting('BENCH_MEMORY_EVENTS', 500_000)
/** The process grows until V8 has optimized the hot code and its heap has its usual size. */
const warmUpEvents = Math.ceil(events / 10)
/** How many events are posted and delivered before the next ones. */
const batch = 5_000
const perWebhook = 10
const sampleMs = 250

/** The memory of the process while it stores and delivers 500,000 events at full speed: flat, or growing with the events. */
export async function benchMemory(scope: Scope): Promise<Row[]> {
  const dataDir = scope.newFolder()
  const receiver = await scope.startTarget('receiver')
  const { appId } = await prepare(dataDir, { hookUrls: [`http://127.0.0.1:${receiver.port}/`] })
  const target = await scope.startTarget('parley', dataDir)
  const atStartMb = target.memoryMb()

  async function deliver(count: number, each: (done: number) => void): Promise<void> {
    for (let done = 0; done < count; done += batch) {
      const size = Math.min(batch, count - done)
      const requests = webhooksOf(appId, size, perWebhook)
      await driveEvents(scope, target, receiver, { requests, events: size, connections: 64 })
      each(done + size)
    }
  }

  await deliver(warmUpEvents, () => {})
  const noise = watchNoise()
  let samples: number[] = []
  const halves: number[][] = []
  const timer = setInterval(() => samples.push(target.memoryMb()), sampleMs)
  scope.defer(() => clearInterval(timer))
  for (const count of [Math.ceil(events / 2), Math.floor(events / 2)]) {
    samples = []
    await deliver(count, (done) => {
      samples.push(target.memoryMb())
      if (done % (10 * batch) === 0) scope.say(`${formatNumber(done)} events: ${formatNumber(samples.at(-1) ?? 0)} MB`)
    })
    halves.push(samples)
  }
  clearInterval(timer)
  const [first = [], second = []] = halves
  const what = `memory over ${formatNumber(events)} events`
  const share = noise()
  return [
    {
      what: `${what}, second half (flat: at most 5 % more than the first)`,
      unit: 'MB',
      rounds: [median(second)],
      base: { name: 'first half', rounds: [median(first)] },
      target: { atMost: 1.05 },
      noise: share,
    },
    { what: `${what}, peak`, unit: 'MB', rounds: [Math.max(...first, ...second)], noise: share },
    { what: 'memory before the first event', unit: 'MB', rounds: [atStartMb] },
  ]
}
