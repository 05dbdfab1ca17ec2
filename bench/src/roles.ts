import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@parley/server/config'
import { openDatabase } from '@parley/server/db/db'
import { type Embedded, openEmbedded } from '@parley/server/db/embedded/embedded'
import { allArrivals } from './arrivals.ts'
import { putUnderLoad } from './load.ts'
import { prepareAt, webhookOf } from './prepare.ts'
import { startTarget, type Target } from './process.ts'

const secretKeys = `bench:${randomBytes(32).toString('base64')}`

/** One installation with its own database: the process that receives, and all of its processes. */
interface Setup {
  name: string
  appId: string
  ingress: Target
  processes: Target[]
}

export interface RoleFigures {
  /** From the webhook in to the webhook out, in milliseconds; the median of the rounds. */
  p50Ms: number
  p99Ms: number
  perSecond: number
  missing: number
  repeats: number
}

/**
 * Compares one process of the role `all` with an `api` and a `worker`, and with an `api` and two workers: the time from
 * webhook in to webhook out at 50 events per second, and the events per second at full speed. The setups alternate.
 */
export async function compareRoles(
  say: (line: string) => void,
  { rounds, withTwoWorkers }: { rounds: number; withTwoWorkers: boolean },
): Promise<Map<string, RoleFigures>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  const embedded = await openEmbedded({ dataDir, purpose: 'visitor' })
  const receiver = await startTarget('receiver')
  const setups: Setup[] = []
  try {
    const hookUrl = `http://127.0.0.1:${receiver.port}/`
    const compared: [string, string[]][] = [
      ['all', ['all']],
      ['api + worker', ['api', 'worker']],
    ]
    if (withTwoWorkers) compared.push(['api + 2 workers', ['api', 'worker', 'worker']])
    for (const [name, roles] of compared) {
      setups.push(await startSetup(embedded, name, roles, hookUrl))
    }
    const low = new Map<string, Measured[]>()
    const full = new Map<string, Measured[]>()
    for (const setup of setups) await measure(setup, receiver, { count: 2_000 })
    for (let round = 0; round < rounds; round++) {
      for (const setup of setups) {
        add(low, setup.name, await measure(setup, receiver, { count: 200, pace: 50 }))
        add(full, setup.name, await measure(setup, receiver, { count: 6_000 }))
      }
    }
    const figures = new Map<string, RoleFigures>()
    for (const { name } of setups) {
      const lows = low.get(name) ?? []
      const fulls = full.get(name) ?? []
      const every = [...lows, ...fulls]
      const found = {
        p50Ms: median(lows.map((each) => each.p50Ms)),
        p99Ms: median(lows.map((each) => each.p99Ms)),
        perSecond: median(fulls.map((each) => each.perSecond)),
        missing: every.reduce((sum, each) => sum + each.missing, 0),
        repeats: every.reduce((sum, each) => sum + each.repeats, 0),
      }
      figures.set(name, found)
      const cpu = median(fulls.map((each) => each.cpuPer1000))
      say(
        `${name.padEnd(16)} p50 ${found.p50Ms.toFixed(1)} ms  p99 ${found.p99Ms.toFixed(1)} ms at 50/s;  ${found.perSecond.toFixed(0)} events/s at full speed, CPU of the processes ${cpu.toFixed(2)} s per 1,000;  missing ${found.missing}  repeats ${found.repeats}`,
      )
    }
    return figures
  } finally {
    for (const { processes } of setups) for (const each of processes) await each.stop()
    await receiver.stop()
    await embedded.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

export async function benchRoles(): Promise<void> {
  const rounds = Number(process.env.BENCH_ROUNDS ?? 3)
  const figures = await compareRoles((line) => console.log(line), { rounds, withTwoWorkers: true })
  const all = figures.get('all')
  for (const [name, { p50Ms, perSecond }] of figures) {
    if (!all || name === 'all') continue
    console.log(
      `${name}: p50 ${(p50Ms / all.p50Ms).toFixed(1)} times, throughput ${(perSecond / all.perSecond).toFixed(2)} times that of one process`,
    )
  }
}

async function startSetup(
  { connection, admin }: Embedded,
  name: string,
  roles: readonly string[],
  hookUrl: string,
): Promise<Setup> {
  const database = `bench_${name.replaceAll(/\W+/g, '_')}`
  const cluster = openDatabase(admin, () => {}, 1)
  await cluster.script(`create database ${database} owner ${connection.user}`)
  await cluster.close()
  const { host, port, user, password } = connection
  const env = {
    DATABASE_URL: `postgresql://${user}:${password}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`,
    PARLEY_SECRET_KEYS: secretKeys,
    PARLEY_WEBHOOK_ALLOW_HTTP: 'true',
    PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  }
  const { appId } = await prepareAt(readConfig(env), [hookUrl])
  const processes: Target[] = []
  for (const role of roles) {
    processes.push(await startTarget('role', JSON.stringify({ ...env, PARLEY_ROLE: role })))
  }
  return { name, appId, ingress: processes[0] as Target, processes }
}

interface Measured {
  p50Ms: number
  p99Ms: number
  perSecond: number
  cpuPer1000: number
  missing: number
  repeats: number
}

/** Posts `count` webhooks with one message each, and waits until all have arrived. */
async function measure(
  { ingress, processes, appId }: Setup,
  receiver: Target,
  { count, pace }: { count: number; pace?: number },
): Promise<Measured> {
  const requests = Array.from({ length: count }, (_, index) => webhookOf(appId, index, 1))
  const cpuUs = () => processes.reduce((sum, each) => sum + each.cpuUs(), 0)
  const cpuBefore = cpuUs()
  const started = performance.timeOrigin + performance.now()
  const load = { port: ingress.port, seconds: 60, requests, once: true }
  await putUnderLoad(pace === undefined ? { ...load, connections: 64 } : { ...load, connections: 8, pace })
  const { times, repeats } = await allArrivals(receiver, count)
  const latencies = Float64Array.from(
    times.map((time, number) => time - started - (pace === undefined ? 0 : (number / pace) * 1000)),
  ).sort()
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN
  return {
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    perSecond: (times.length / (Math.max(...times) - started)) * 1000,
    cpuPer1000: (cpuUs() - cpuBefore) / 1e6 / (count / 1000),
    missing: count - times.length,
    repeats,
  }
}

function add(to: Map<string, Measured[]>, name: string, measured: Measured): void {
  to.set(name, [...(to.get(name) ?? []), measured])
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? Number.NaN
}
