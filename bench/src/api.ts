import { setTimeout as sleep } from 'node:timers/promises'
import { inTurn, rowOf } from './lib/in-turn.ts'
import { type Measured, putUnderLoad } from './lib/load.ts'
import { keysInTurn, prepare } from './lib/prepare.ts'
import type { Target } from './lib/process.ts'
import type { Scope } from './lib/scope.ts'
import { numberSetting } from './lib/settings.ts'
import { addCounts } from './lib/statistics.ts'
import { formatNumber, type Row } from './lib/table.ts'

const keysEach = 100
const workspaceCount = 50
const connections = 64
/** Many short rounds: the machine is slower now and then, so targets are compared within the same round. */
const rounds = 6
/** Long enough for V8 to optimize the hot code, because a service runs for months. */
const warmUpSeconds = 6
const seconds = numberSetting('BENCH_SECONDS', 2)
/** Each key has a rate limit of 100 requests a minute. The minute of the warm-up has to pass, or the last round would exceed it. */
const pauseMs = (60 - warmUpSeconds + 1) * 1000

type Figures = Measured & { cpuUs: number }

/** Compares an authenticated `GET /v1/me`, with rate limits and request log, with bare servers that return the same payload. */
export async function benchApi(scope: Scope): Promise<Row[]> {
  const dataDir = scope.newFolder()
  scope.say(`creating ${workspaceCount * keysEach} keys`)
  const hookUrls = Array<null>(workspaceCount).fill(null)
  const requests = keysInTurn(await prepare(dataDir, { hookUrls, keysEach })).map((secret) =>
    Buffer.from(
      `GET /v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${secret}\r\nUser-Agent: bench/1\r\n\r\n`,
    ),
  )
  const targets = new Map<string, Target>()
  for (const name of ['node:http', 'fastify', 'parley']) targets.set(name, await scope.startTarget(name, dataDir))

  async function measure(name: string, forSeconds: number): Promise<Figures> {
    const target = targets.get(name) as Target
    const before = target.cpuUs()
    const measured = await putUnderLoad({ port: target.port, connections, seconds: forSeconds, requests })
    const responses = Object.values(measured.statuses).reduce((sum, count) => sum + count, 0)
    const cpuUs = (target.cpuUs() - before) / responses
    scope.say(`${name}: ${formatNumber(measured.perSecond)} requests/s, p99 ${formatNumber(measured.p99Ms)} ms`)
    return { ...measured, cpuUs }
  }

  for (const name of targets.keys()) await measure(name, warmUpSeconds)
  scope.say('waiting for the rate limits to reset')
  await sleep(pauseMs)
  const measured = await inTurn([...targets.keys()], rounds, (name) => measure(name, seconds))
  const statuses = addCounts([...targets.keys()].flatMap((name) => measured.of(name).map((each) => each.statuses)))
  if (Object.keys(statuses).join() !== '200') scope.fault(`responses ${JSON.stringify(statuses)}`)
  const what = 'GET /v1/me'
  return [
    rowOf(measured, (each) => each.perSecond, {
      what,
      unit: 'requests/s',
      subject: 'parley',
      base: 'fastify',
      target: { atLeast: 0.45 },
    }),
    rowOf(measured, (each) => each.p99Ms, {
      what: `${what}, p99`,
      unit: 'ms',
      subject: 'parley',
      base: 'fastify',
      target: { atMost: 3 },
    }),
    rowOf(measured, (each) => each.cpuUs, {
      what: `${what}, CPU of the process`,
      unit: 'µs',
      subject: 'parley',
      base: 'fastify',
    }),
    rowOf(measured, (each) => each.perSecond, { what, unit: 'requests/s', subject: 'parley', base: 'node:http' }),
    rowOf(measured, (each) => each.p99Ms, {
      what: `${what}, p99`,
      unit: 'ms',
      subject: 'parley',
      base: 'node:http',
    }),
  ]
}
