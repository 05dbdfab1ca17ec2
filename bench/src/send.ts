import { setTimeout as sleep } from 'node:timers/promises'
import { putUnderLoad } from './lib/load.ts'
import { watchNoise } from './lib/noise.ts'
import { keysInTurn, prepare, sendBody, sendRequest } from './lib/prepare.ts'
import type { Target } from './lib/process.ts'
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
  const { port } = await scope.startTarget('parley', dataDir)
  return [
    ...(await measureCalls(scope, port, keys.slice(0, keys.length / 2), network)),
    ...(await measurePeak(scope, port, keys.slice(keys.length / 2), network)),
  ]
}

async function measurePeak(scope: Scope, port: number, keys: readonly string[], network: Target): Promise<Row[]> {
  const noise = watchNoise()
  const requests = Array.from({ length: keys.length * 99 }, (_, n) => sendRequest(keys[n % keys.length] ?? '', n))
  const { perSecond, p99Ms, statuses } = await putUnderLoad({ port, connections, seconds, requests, once: true })
  const { calledAt } = await readNetworkLog(network)
  if (Object.keys(statuses).join() !== '202') scope.fault(`responses ${JSON.stringify(statuses)}`)
  const row = { noise: noise() }
  return [
    { ...row, what: 'accepted, at full speed', unit: 'sends/s', rounds: [perSecond] },
    { ...row, what: 'accepted, at full speed, p99', unit: 'ms', rounds: [p99Ms] },
    { ...row, what: 'calls of WhatsApp meanwhile', unit: '', rounds: [Object.keys(calledAt).length] },
  ]
}

/** Sends messages at a steady pace; all times are of the same clock. */
async function measureCalls(scope: Scope, port: number, keys: readonly string[], network: Target): Promise<Row[]> {
  const noise = watchNoise()
  const respondedAt = new Map<string, number>()
  const sends: Promise<void>[] = []
  const started = performance.now()
  for (let n = 0; n < pacePerSecond * seconds; n++) {
    const wait = started + (n / pacePerSecond) * 1000 - performance.now()
    if (wait > 1) await sleep(wait)
    sends.push(sendOne(port, keys[n % keys.length] ?? '', n, respondedAt))
  }
  await Promise.all(sends)
  const calledAt: Record<string, number> = {}
  let repeats = 0
  for (const end = Date.now() + patienceMs; Object.keys(calledAt).length < respondedAt.size && Date.now() < end; ) {
    await sleep(100)
    const log = await readNetworkLog(network)
    Object.assign(calledAt, log.calledAt)
    repeats += log.repeats
  }
  const waits = [...respondedAt].flatMap(([id, at]) => {
    const called = calledAt[id]
    return called === undefined ? [] : [Math.max(0, called - at)]
  })
  const missing = pacePerSecond * seconds - waits.length
  if (missing + repeats > 0) scope.fault(`${missing} messages were not sent, ${repeats} were sent twice`)
  const row = { unit: 'ms', noise: noise() }
  const what = `from 202 to the call of WhatsApp at ${pacePerSecond} sends/s`
  return [
    { ...row, what: `${what}, p50`, rounds: [percentile(waits, 0.5)] },
    { ...row, what: `${what}, p99`, rounds: [percentile(waits, 0.99)] },
  ]
}

async function sendOne(port: number, secret: string, n: number, respondedAt: Map<string, number>): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: sendBody(n),
  })
  const at = performance.timeOrigin + performance.now()
  const { id } = (await response.json()) as { id?: string }
  if (id) respondedAt.set(id, at)
}
