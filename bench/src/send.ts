import { setTimeout as sleep } from 'node:timers/promises'
import { putUnderLoad } from './lib/load.ts'
import { watchNoise } from './lib/noise.ts'
import { keysInTurn, prepare, sendBody, sendRequest } from './lib/prepare.ts'
import { type Target, withCpu } from './lib/process.ts'
import type { Scope } from './lib/scope.ts'
import { readNetworkLog } from './lib/sending.ts'
import { numberSetting } from './lib/settings.ts'
import { percentile } from './lib/statistics.ts'
import type { Row } from './lib/table.ts'

const workspaceCount = 20
/** Each key has a rate limit of 100 requests a minute; with this many keys none exceeds it. */
const keysEach = 40
const connections = 32
const seconds = numberSetting('BENCH_SECONDS', 5)
const pacePerSecond = 200
const warmUpSeconds = 3
/** How long the last calls may take. */
const patienceMs = 10_000

/**
 * Sends of twenty workspaces, each with its own number: how many per second are accepted (message, debit and outbox
 * committed) and, at a pace within the numbers' throughput, how long after the response WhatsApp is called.
 */
export async function benchSend(scope: Scope): Promise<Row[]> {
  const dataDir = scope.newFolder()
  const network = await scope.startTarget('network')
  const hookUrls = Array<null>(workspaceCount).fill(null)
  const graphUrl = `http://127.0.0.1:${network.port}`
  const keys = keysInTurn(await prepare(dataDir, { hookUrls, keysEach, graphUrl }))
  const target = await scope.startTarget('parley', dataDir)
  return [
    ...(await measureCalls(scope, target, keys.slice(0, keys.length / 2), network)),
    ...(await measurePeak(scope, target, keys.slice(keys.length / 2), network)),
  ]
}

async function measurePeak(scope: Scope, target: Target, keys: readonly string[], network: Target): Promise<Row[]> {
  const noise = watchNoise()
  const requests = Array.from({ length: keys.length * 99 }, (_, n) => sendRequest(keys[n % keys.length] ?? '', n))
  const load = { port: target.port, connections, seconds, requests, once: true }
  const { result, cpuUs } = await withCpu(target, () => putUnderLoad(load))
  const { perSecond, p50Ms, p99Ms, statuses } = result
  const { calledAt } = await readNetworkLog(network)
  if (Object.keys(statuses).join() !== '202') scope.fault(`responses ${JSON.stringify(statuses)}`)
  const row = { noise: noise() }
  const accepted = statuses['202'] ?? 0
  return [
    { ...row, what: 'accepted, at full speed', unit: 'sends/s', rounds: [perSecond], target: { atLeast: 2_500 } },
    { ...row, what: 'accepted, at full speed, p50', unit: 'ms', rounds: [p50Ms] },
    { ...row, what: 'accepted, at full speed, p99', unit: 'ms', rounds: [p99Ms] },
    { ...row, what: 'CPU of the process for a send, with the calls', unit: 'µs', rounds: [cpuUs.process / accepted] },
    { ...row, what: 'CPU of PostgreSQL for a send, with the calls', unit: 'µs', rounds: [cpuUs.postgres / accepted] },
    { ...row, what: 'calls of WhatsApp at full speed', unit: '', rounds: [Object.keys(calledAt).length] },
  ]
}

/** Sends messages at a steady pace; all times are of the same clock. */
async function measureCalls(scope: Scope, target: Target, keys: readonly string[], network: Target): Promise<Row[]> {
  const noise = watchNoise()
  const respondedAt = new Map<string, number>()
  const sendAtPace = async (from: number, to: number) => {
    const sends: Promise<void>[] = []
    const started = performance.now()
    for (let n = from; n < to; n++) {
      const wait = started + ((n - from) / pacePerSecond) * 1000 - performance.now()
      if (wait > 1) await sleep(wait)
      sends.push(sendOne(target.port, keys[n % keys.length] ?? '', n, respondedAt))
    }
    await Promise.all(sends)
  }
  const warmUps = pacePerSecond * warmUpSeconds
  const sends = pacePerSecond * seconds
  await sendAtPace(0, warmUps)
  const warmedUpAt = now()
  const { cpuUs } = await withCpu(target, () => sendAtPace(warmUps, warmUps + sends))
  const calledAt: Record<string, number> = {}
  let repeats = 0
  for (const end = Date.now() + patienceMs; Object.keys(calledAt).length < respondedAt.size && Date.now() < end; ) {
    await sleep(100)
    const log = await readNetworkLog(network)
    Object.assign(calledAt, log.calledAt)
    repeats += log.repeats
  }
  const called = [...respondedAt].flatMap(([id, at]) => {
    const calledMs = calledAt[id]
    return calledMs === undefined ? [] : [{ at, waitMs: Math.max(0, calledMs - at) }]
  })
  const waits = called.filter(({ at }) => at > warmedUpAt).map(({ waitMs }) => waitMs)
  const missing = warmUps + sends - called.length
  if (missing + repeats > 0) scope.fault(`${missing} messages were not sent, ${repeats} were sent twice`)
  const row = { unit: 'ms', noise: noise() }
  const what = `from 202 to the call of WhatsApp at ${pacePerSecond} sends/s`
  return [
    { ...row, what: `${what}, p50`, rounds: [percentile(waits, 0.5)] },
    { ...row, what: `${what}, p99`, rounds: [percentile(waits, 0.99)], target: { atMost: 30 } },
    {
      ...row,
      unit: 'µs',
      what: `CPU of the process for a send at ${pacePerSecond}/s`,
      rounds: [cpuUs.process / sends],
    },
    {
      ...row,
      unit: 'µs',
      what: `CPU of PostgreSQL for a send at ${pacePerSecond}/s`,
      rounds: [cpuUs.postgres / sends],
    },
  ]
}

async function sendOne(port: number, secret: string, n: number, respondedAt: Map<string, number>): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: sendBody(n),
  })
  const at = now()
  const { id } = (await response.json()) as { id?: string }
  if (id) respondedAt.set(id, at)
}

/** Of the same clock in all processes. */
const now = (): number => performance.timeOrigin + performance.now()
