import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '@parley/server/db/db'
import { bytesFor, requireDisk, seedEvents } from './growth-seed.ts'
import { setReceiver } from './lib/arrivals.ts'
import { driveEvents } from './lib/drive.ts'
import { inTurn, rowOf } from './lib/in-turn.ts'
import { driveLifecycles } from './lib/lifecycles.ts'
import { webhooksOf } from './lib/prepare.ts'
import { type CpuUs, withCpu } from './lib/process.ts'
import type { Scope } from './lib/scope.ts'
import { lifecycleEvents, type PreparedSending, prepareSending, type Sending, startSending } from './lib/sending.ts'
import { numberSetting } from './lib/settings.ts'
import { formatNumber, type Row, type Target } from './lib/table.ts'

const few = 100_000
const many = numberSetting('BENCH_EVENTS', 20_000_000)
const rounds = numberSetting('BENCH_ROUNDS', 3)
const events = numberSetting('BENCH_ROUND_EVENTS', 8_000)
const messages = numberSetting('BENCH_LIFECYCLES', 2_000)
/** Messages per second, each with four events. */
const pace = 50
const pacedMessages = Math.min(1_000, messages)
/** A connection of PostgreSQL that is idle reports its statistics after ten seconds. */
const reportMs = 11_000
const countedWithinMs = 30 * 60_000
/** What an event may cost with many events stored, compared with few. */
const atMost = 1.15

interface Installation extends Sending {
  appId: string
  db: Db
}

/** What one event costs. */
interface Cost {
  perSecond: number
  cpuUs: CpuUs
  p99Ms: number
}

/** The cost of one event with 100,000 and with 20 million events stored, in two installations that take turns. */
export async function benchGrowth(scope: Scope): Promise<Row[]> {
  if (many <= few) throw new Error(`BENCH_EVENTS must be above ${few}.`)
  const receiver = await scope.startTarget('receiver')
  const installations = new Map<string, Installation>()
  const sizes = [few, many].map((count) => ({ count, name: `${formatNumber(count)} stored` }))
  for (const { count, name } of sizes) {
    const prepared = await prepareSending(scope, receiver, String(count))
    requireDisk(prepared.dataDir, count)
    scope.say(`storing ${formatNumber(count)} events, about ${(bytesFor(count) / 1024 ** 3).toFixed(0)} GiB with spare`)
    await seedEvents(scope, prepared.dataDir, prepared.prepared, count)
    installations.set(name, await startInstallation(scope, prepared))
  }
  const [fewer, more] = sizes.map(({ name }) => name) as [string, string]
  const names = [fewer, more]
  const of = (name: string) => installations.get(name) as Installation
  const perEvent = (cpuUs: CpuUs, count: number) => ({
    process: cpuUs.process / count,
    postgres: cpuUs.postgres / count,
  })
  let firstKey = 0

  async function receive(name: string): Promise<Cost> {
    const { target, receiver, secrets, appId } = of(name)
    await setReceiver(receiver, { types: ['message.received'], secrets })
    const requests = webhooksOf(appId, events, 1, Object.keys(secrets).length)
    const traffic = { requests, events, connections: 32 }
    const { result, cpuUs } = await withCpu(target, () => driveEvents(scope, target, receiver, traffic))
    scope.say(`${name}: ${formatNumber(result.perSecond)} received events/s`)
    return { perSecond: result.perSecond, p99Ms: result.p99Ms, cpuUs: perEvent(cpuUs, events) }
  }

  async function send(name: string, count: number, atPace?: number): Promise<Cost> {
    const traffic = { count, firstKey, ...(atPace !== undefined && { pace: atPace }) }
    firstKey += count
    const { perSecond, p99Ms, cpuUs } = await driveLifecycles(scope, of(name), traffic)
    const each = lifecycleEvents.length
    scope.say(`${name}: ${formatNumber(perSecond * each)} events/s of messages, p99 ${formatNumber(p99Ms)} ms`)
    return {
      perSecond: perSecond * each,
      p99Ms,
      cpuUs: { process: cpuUs.process / each, postgres: cpuUs.postgres / each },
    }
  }

  for (const name of names) {
    await send(name, Math.min(1_000, messages))
    await receive(name)
  }
  const pagesBefore = await pagesOf(installations)
  const received = await inTurn(names, rounds, receive)
  const sent = await inTurn(names, rounds, (name) => send(name, messages))
  const paced = await inTurn(names, rounds, (name) => send(name, pacedMessages, pace))
  const pagesAfter = await pagesOf(installations)
  const measuredEvents = rounds * (events + (messages + pacedMessages) * lifecycleEvents.length)
  const pages = (name: string) => ((pagesAfter.get(name) ?? 0) - (pagesBefore.get(name) ?? 0)) / measuredEvents
  const compared = { subject: more, base: fewer }
  const rows = (what: string, measured: typeof received): Row[] => [
    rowOf(measured, (each) => each.perSecond, { ...compared, what, unit: 'events/s', target: { atLeast: 1 / atMost } }),
    rowOf(measured, ({ cpuUs }) => cpuUs.postgres, cpuRow(`${what}, PostgreSQL's CPU for an event`)),
    rowOf(measured, ({ cpuUs }) => cpuUs.process, cpuRow(`${what}, CPU of the process for an event`)),
  ]
  const cpuRow = (what: string) => ({ ...compared, what, unit: 'µs', target: { atMost } satisfies Target })
  return [
    ...rows('messages received', received),
    ...rows('messages sent, with their statuses and replies', sent),
    rowOf(paced, (each) => each.p99Ms, {
      ...compared,
      what: `from 202 to the third delivery at ${pace} messages/s, p99`,
      unit: 'ms',
      target: { atMost },
    }),
    {
      what: 'pages that PostgreSQL read into its memory for an event',
      unit: '',
      rounds: [pages(more)],
      base: { name: fewer, rounds: [pages(fewer)] },
      noise: sent.noise,
    },
  ]
}

async function startInstallation(scope: Scope, prepared: PreparedSending): Promise<Installation> {
  const sending = await startSending(scope, prepared)
  const { db } = await scope.openStore(prepared.dataDir)
  await untilCounted(scope, db)
  return { ...sending, appId: prepared.prepared.appId, db }
}

/**
 * Waits until maintenance has counted what is stored. The rows were generated, so it counts all of them at once. An installation
 * that grew has counted them as they came.
 */
async function untilCounted(scope: Scope, db: Db): Promise<void> {
  const steps = ['hourly counts', 'verify the ledger']
  scope.say('waiting until maintenance has counted the rows')
  for (const end = Date.now() + countedWithinMs; ; await sleep(1_000)) {
    const row = await db.first<{ done: number }>(
      'select count(*) as done from maintenance_steps where step = any($1) and succeeded_at is not null',
      [steps],
    )
    if (row?.done === steps.length) return
    if (Date.now() > end) throw new Error(`Maintenance did not end within ${countedWithinMs / 60_000} minutes.`)
  }
}

/** How many pages PostgreSQL has read that were not in its own memory. The system may have had them in its cache. */
async function pagesOf(installations: ReadonlyMap<string, Installation>): Promise<Map<string, number>> {
  await sleep(reportMs)
  const pages = new Map<string, number>()
  for (const [name, { db }] of installations) {
    const row = await db.first<{ pages: number }>(
      'select blks_read as pages from pg_stat_database where datname = current_database()',
    )
    pages.set(name, row?.pages ?? Number.NaN)
  }
  return pages
}
