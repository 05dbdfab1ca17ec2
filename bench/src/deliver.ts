import { type Delivered, driveEvents } from './lib/drive.ts'
import { inTurn, type Rounds, rowOf } from './lib/in-turn.ts'
import { appSecret, prepare, webhooksOf } from './lib/prepare.ts'
import { type CpuUs, type Target, withCpu } from './lib/process.ts'
import type { Scope } from './lib/scope.ts'
import { numberSetting } from './lib/settings.ts'
import { formatNumber, type Row } from './lib/table.ts'

const connections = 64
const events = numberSetting('BENCH_ROUND_EVENTS', 12_000)
const rounds = numberSetting('BENCH_ROUNDS', 3)
const pace = 500
const pacedEvents = Math.min(4_000, events)

/**
 * Measures the path from WhatsApp's webhook to the signed delivery at a local receiver, in one process with everything that
 * the product does: it checks the signature, deduplicates and stores the message, and records event, delivery and attempt.
 * For comparison, `raw-limit` does the same without storing anything.
 */
export async function benchDeliver(scope: Scope): Promise<Row[]> {
  const dataDir = scope.newFolder()
  const receiver = await scope.startTarget('receiver')
  const hookUrl = `http://127.0.0.1:${receiver.port}/`
  const { appId } = await prepare(dataDir, { hookUrls: [hookUrl] })
  const targets = new Map<string, Target>([
    ['raw-limit', await scope.startTarget('raw-limit', JSON.stringify({ appSecret, hookUrl }))],
    ['parley', await scope.startTarget('parley', dataDir)],
  ])

  async function measure(name: string, count: number, size: number, atPace?: number) {
    const requests = webhooksOf(appId, count, size)
    const target = targets.get(name) as Target
    const traffic = { requests, events: count, connections, ...(atPace !== undefined && { pace: atPace }) }
    const { result, cpuUs } = await withCpu(target, () => driveEvents(scope, target, receiver, traffic))
    scope.say(
      `${name}, ${size} per request: ${formatNumber(result.perSecond)} events/s, p99 ${formatNumber(result.p99Ms)} ms`,
    )
    return { ...result, cpuUs: { process: cpuUs.process / count, postgres: cpuUs.postgres / count } }
  }

  const names = [...targets.keys()]
  for (const name of names) await measure(name, Math.min(5_000, events), 10)
  const rows: Row[] = []
  for (const size of [1, 10]) {
    const measured = await inTurn(names, rounds, (name) => measure(name, events, size))
    const what = `webhook to delivery, ${size} per request`
    rows.push(
      rowOf(measured, (each) => each.perSecond, {
        what,
        unit: 'events/s',
        subject: 'parley',
        base: 'raw-limit',
        target: { atLeast: 0.8 },
      }),
      ...cpuRows(what, measured),
    )
  }
  const paced = await inTurn(names, rounds, (name) => measure(name, pacedEvents, 1, pace))
  const what = `webhook to delivery at ${pace} events/s`
  return [
    ...rows,
    rowOf(paced, (each) => each.p50Ms, { what: `${what}, p50`, unit: 'ms', subject: 'parley', base: 'raw-limit' }),
    rowOf(paced, (each) => each.p99Ms, {
      what: `${what}, p99`,
      unit: 'ms',
      subject: 'parley',
      base: 'raw-limit',
      target: { atMost: 3 },
    }),
  ]
}

/** CPU time of one event. */
function cpuRows(what: string, measured: Rounds<Delivered & { cpuUs: CpuUs }>): Row[] {
  const subject = 'parley'
  return [
    rowOf(measured, ({ cpuUs }) => cpuUs.process + cpuUs.postgres, {
      what: `${what}, CPU of an event`,
      unit: 'µs',
      subject,
      base: 'raw-limit',
    }),
    rowOf(measured, ({ cpuUs }) => cpuUs.postgres, {
      what: `${what}, of that PostgreSQL`,
      unit: 'µs',
      subject,
    }),
  ]
}
