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
/** Short and many: the machine is slower for a while now and then, whatever runs, and each round is compared with itself. */
const rounds = 6
/** Long enough for the optimising compiler to be done with the busiest code: a service runs for months. */
const warmUpSeconds = 6
const seconds = Number(process.env.BENCH_SECONDS ?? 2)
/** A key may ask 100 times a minute: what the warm-up took of that has to be over, or the last round would be refused. */
const pauseMs = (60 - warmUpSeconds + 1) * 1000

/** Authenticated `GET /v1/me` with exact rate limits and the full request log, beside the same payload with nothing around it. */
export async function benchApi(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  try {
    console.log(`Making ${keyCount} keys…`)
    const secrets = await makeKeys(dataDir)
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

/** In turn, round after round: what disturbs the machine for a while disturbs all of them. */
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
      console.log('Waiting for the budgets of the next minute…')
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
  console.log('\nParley, the median of the rounds:')
  for (const base of ['fastify', 'node:http']) {
    const speed = (ratio(base, (m) => m.perSecond) * 100).toFixed(0)
    const p99 = ratio(base, (m) => m.p99Ms).toFixed(2)
    const each = ratios(base, (m) => m.perSecond).map((value) => (value * 100).toFixed(0))
    console.log(`  ${speed} % of bare ${base}'s requests a second (${each.join(', ')}), ${p99} times its p99`)
  }
  const refused = [...results.values()].flat().some(({ statuses }) => Object.keys(statuses).join() !== '200')
  if (refused) console.log('  NOT VALID: some requests were refused, which is not what is measured')
  const enough = !refused && ratio('fastify', (m) => m.perSecond) >= 0.45 && ratio('fastify', (m) => m.p99Ms) <= 3
  console.log(`  target: at least 45 % of bare fastify and at most 3 times its p99: ${enough ? 'met' : 'MISSED'}`)
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2
}

async function makeKeys(dataDir: string): Promise<string[]> {
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
