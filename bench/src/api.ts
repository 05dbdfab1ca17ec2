import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore } from '@parley/server/db/store'
import { createKey } from '@parley/server/domain/keys/keys'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import { newLogger } from '@parley/server/lib/logger'
import { type Measured, putUnderLoad } from './load.ts'
import { startTarget, type Target } from './process.ts'

const keyCount = 5000
const workspaceCount = 50
const connections = 64
/** Many short rounds: the machine is slower now and then, so targets are compared within the same round. */
const rounds = 6
/** Long enough for V8 to optimize the hot code, because a service runs for months. */
const warmUpSeconds = 6
const seconds = Number(process.env.BENCH_SECONDS ?? 2)
/** Each key has a rate limit of 100 requests a minute. The minute of the warm-up has to pass, or the last round would exceed it. */
const pauseMs = (60 - warmUpSeconds + 1) * 1000

/** Compares an authenticated `GET /v1/me`, with rate limits and request log, with bare servers that return the same payload. */
export async function benchApi(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  try {
    console.log(`Creating ${keyCount} keys…`)
    const secrets = await createKeys(dataDir)
    const requests = secrets.map((secret) =>
      Buffer.from(
        `GET /v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${secret}\r\nUser-Agent: bench/1\r\n\r\n`,
      ),
    )
    const targets: [string, Target][] = []
    for (const name of ['node:http', 'fastify', 'parley']) targets.push([name, await startTarget(name, dataDir)])
    try {
      report(await measureInTurn(targets, requests))
    } finally {
      for (const [, target] of targets) await target.stop()
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Alternates between the targets, so that a disturbance of the machine affects all of them. */
async function measureInTurn(targets: readonly [string, Target][], requests: readonly Buffer[]) {
  const results = new Map<string, Measured[]>(targets.map(([name]) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const [name, target] of targets) {
      const before = target.cpuUs()
      const load = { port: target.port, connections, seconds: round === 0 ? warmUpSeconds : seconds, requests }
      const measured = await putUnderLoad(load)
      if (round > 0) results.get(name)?.push(measured)
      const { perSecond, p50Ms, p99Ms, statuses } = measured
      const responses = Object.values(statuses).reduce((sum, count) => sum + count, 0)
      const cpu = ((target.cpuUs() - before) / responses).toFixed(1)
      const figures = `${perSecond.toFixed(0).padStart(7)}/s  p50 ${p50Ms.toFixed(2)} ms  p99 ${p99Ms.toFixed(2)} ms  CPU ${cpu} µs`
      console.log(
        `${round === 0 ? 'warm-up' : `round ${round}`}  ${name.padEnd(10)}${figures}  ${JSON.stringify(statuses)}`,
      )
    }
    if (round === 0) {
      console.log('Waiting for the rate limits to reset…')
      await sleep(pauseMs)
    }
  }
  return results
}

function report(results: ReadonlyMap<string, Measured[]>): void {
  const ratios = (base: string, of: (measured: Measured) => number) => {
    const bases = results.get(base) ?? []
    return (results.get('parley') ?? []).map((measured, round) => of(measured) / of(bases[round] as Measured))
  }
  const ratio = (base: string, of: (measured: Measured) => number) => medianOf(ratios(base, of))
  console.log('\nParley, median of all rounds:')
  for (const base of ['fastify', 'node:http']) {
    const speed = (ratio(base, (m) => m.perSecond) * 100).toFixed(0)
    const p99 = ratio(base, (m) => m.p99Ms).toFixed(2)
    const each = ratios(base, (m) => m.perSecond).map((value) => (value * 100).toFixed(0))
    console.log(`  ${speed} % of bare ${base}'s requests a second (${each.join(', ')}), ${p99} times its p99`)
  }
  const hasErrors = [...results.values()].flat().some(({ statuses }) => Object.keys(statuses).join() !== '200')
  if (hasErrors) console.log('  NOT VALID: some requests failed')
  const isMet = !hasErrors && ratio('fastify', (m) => m.perSecond) >= 0.45 && ratio('fastify', (m) => m.p99Ms) <= 3
  console.log(`  target: at least 45 % of bare fastify and at most 3 times its p99: ${isMet ? 'met' : 'MISSED'}`)
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2
}

async function createKeys(dataDir: string): Promise<string[]> {
  const store = await openStore(
    { databaseUrl: null, dataDir },
    { purpose: 'visitor', schema: 'migrate', log: newLogger('silent') },
  )
  try {
    return await store.db.transaction(async (tx) => {
      const secrets: string[] = []
      for (let w = 0; w < workspaceCount; w++) {
        const { id } = await createWorkspace(tx, systemClock, `bench ${w}`)
        for (let k = 0; k < keyCount / workspaceCount; k++) {
          const input = { workspaceId: id, name: `bench ${k}`, scopes: ['messages:send', 'messages:read'], budget: 100 }
          secrets.push((await createKey(tx, systemClock, { ...input, createdBy: 'bench' })).secret)
        }
      }
      return secrets
    })
  } finally {
    await store.close()
  }
}
