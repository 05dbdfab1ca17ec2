import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Scope } from './lib/scope.ts'
import { numberSetting } from './lib/settings.ts'
import { median } from './lib/statistics.ts'
import type { Row, Target } from './lib/table.ts'
import { missingPeers, peersFolder } from './peers-folder.ts'

const rounds = numberSetting('BENCH_ROUNDS', 3)

/** Inbound messages only, which every target stores and delivers. */
const scenarios = {
  one: 'shape=1,events=10000,messages=1',
  ten: 'shape=10,events=20000,messages=1',
  paced: 'shape=1,rate=500,events=4000,messages=1',
}

interface Run {
  target: string
  scenario: string
  round: number
  eventsPerSecond: number
  e2eP99: number
  cpuPer1k: number
  missing: number
  duplicates: number
  noisePercent: number
}

/** Parley in the peers' benchmark: compared with the same path in memory, and with the best that stores in PostgreSQL or Redis. */
export async function benchPeers(scope: Scope): Promise<Row[]> {
  const missing = missingPeers()
  if (missing !== null) throw new Error(missing)
  const json = join(scope.newFolder(), 'runs.json')
  const durable = ['graphile-worker', 'pg-boss', ...(hasProgram('redis-server') ? ['bullmq'] : [])]
  if (!durable.includes('bullmq')) scope.say('redis-server is not installed, so bullmq is left out')
  const args = [
    ...[
      'run.mjs',
      '--external',
      join(import.meta.dirname, '..', 'peers.json'),
      '--rounds',
      String(rounds),
      '--json',
      json,
    ],
    ...['--target', ['raw-limit', ...durable, 'parley'].join()],
    ...Object.values(scenarios).flatMap((scenario) => ['--scenario', scenario]),
  ]
  const child = spawn(process.execPath, args, { cwd: peersFolder(), stdio: ['ignore', 2, 2] })
  scope.defer(() => child.kill())
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the peers' benchmark ended with ${code}`)
  const runs = JSON.parse(readFileSync(json, 'utf8')) as Run[]
  for (const { target, scenario, missing, duplicates } of runs) {
    if (target === 'parley' && missing + duplicates > 0) {
      scope.fault(`${scenario}: ${missing} events missing, ${duplicates} repeated`)
    }
  }
  return rowsOf(runs, durable)
}

/** The rows of all scenarios, from the runs that the benchmark has written. */
export function rowsOf(runs: readonly Run[], durable: readonly string[]): Row[] {
  const row = (
    scenario: string,
    pick: (run: Run) => number,
    base: string,
    texts: Pick<Row, 'what' | 'unit'>,
    target: Target,
  ) => {
    const of = (name: string) =>
      runs
        .filter((run) => run.scenario === scenario && run.target === name)
        .toSorted((left, right) => left.round - right.round)
    const noise = Math.max(...of('parley').map(({ noisePercent }) => noisePercent))
    return { ...texts, rounds: of('parley').map(pick), base: { name: base, rounds: of(base).map(pick) }, target, noise }
  }
  const best = (scenario: string, pick: (run: Run) => number, isBetter: (value: number, than: number) => boolean) => {
    const values = durable.map((name) => {
      const ofTarget = runs.filter((run) => run.scenario === scenario && run.target === name)
      return { name, value: median(ofTarget.map(pick)) }
    })
    return values.reduce((one, other) => (isBetter(other.value, one.value) ? other : one)).name
  }
  const speed = (run: Run) => run.eventsPerSecond
  const cpu = (run: Run) => run.cpuPer1k
  const p99 = (run: Run) => run.e2eP99
  const [more, less] = [(value: number, than: number) => value > than, (value: number, than: number) => value < than]
  return [
    ...(
      [
        ['one', '1 per request'],
        ['ten', '10 per request'],
      ] as const
    ).flatMap(([name, what]) => {
      const scenario = scenarios[name]
      return [
        row(scenario, speed, 'raw-limit', { what, unit: 'events/s' }, { atLeast: 0.8 }),
        row(scenario, speed, best(scenario, speed, more), { what, unit: 'events/s' }, { atLeast: 1.4 }),
        row(
          scenario,
          cpu,
          best(scenario, cpu, less),
          { what: `${what}, CPU of 1,000 events`, unit: 's' },
          { atMost: 1 },
        ),
      ]
    }),
    row(scenarios.paced, p99, 'raw-limit', { what: 'at 500 events/s, p99', unit: 'ms' }, { atMost: 3 }),
    row(
      scenarios.paced,
      p99,
      best(scenarios.paced, p99, less),
      { what: 'at 500 events/s, p99', unit: 'ms' },
      { atMost: 1 },
    ),
  ]
}

const hasProgram = (name: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((path) => existsSync(join(path, name)))
