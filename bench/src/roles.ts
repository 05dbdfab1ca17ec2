import { randomBytes } from 'node:crypto'
import { readConfig } from '@parley/server/config'
import { openDatabase } from '@parley/server/db/db'
import { type Embedded, openEmbedded } from '@parley/server/db/embedded/embedded'
import { type Delivered, driveEvents } from './lib/drive.ts'
import { inTurn, type Rounds, rowOf } from './lib/in-turn.ts'
import { prepareAt, webhooksOf } from './lib/prepare.ts'
import type { Target } from './lib/process.ts'
import { Scope } from './lib/scope.ts'
import { numberSetting } from './lib/settings.ts'
import { median } from './lib/statistics.ts'
import type { Row } from './lib/table.ts'

const secretKeys = `bench:${randomBytes(32).toString('base64')}`
const pace = 50

/** One installation with its own database: the process that receives, and all of its processes. */
interface Setup {
  name: string
  appId: string
  ingress: Target
  processes: Target[]
}

type Figures = Delivered & { cpuUs: number }

interface Measured {
  names: string[]
  /** At 50 events per second. */
  slow: Rounds<Figures>
  full: Rounds<Figures>
}

export interface RoleFigures {
  /** From the webhook in to the webhook out, in milliseconds; the median of the rounds. */
  p50Ms: number
  p99Ms: number
  perSecond: number
  missing: number
  repeats: number
}

interface RoleOptions {
  rounds: number
  withTwoWorkers: boolean
}

/** The figures of each setup, for a reliability scenario. */
export async function compareRoles(
  say: (line: string) => void,
  options: RoleOptions,
): Promise<Map<string, RoleFigures>> {
  const scope = new Scope(say)
  try {
    const { names, slow, full } = await measureRoles(scope, options)
    return new Map(
      names.map((name) => {
        const every = [...slow.of(name), ...full.of(name)]
        const figures = {
          p50Ms: median(slow.of(name).map((each) => each.p50Ms)),
          p99Ms: median(slow.of(name).map((each) => each.p99Ms)),
          perSecond: median(full.of(name).map((each) => each.perSecond)),
          missing: every.reduce((sum, each) => sum + each.missing, 0),
          repeats: every.reduce((sum, each) => sum + each.repeats, 0),
        }
        return [name, figures] as const
      }),
    )
  } finally {
    await scope.end()
  }
}

export async function benchRoles(scope: Scope): Promise<Row[]> {
  const rounds = numberSetting('BENCH_ROUNDS', 3)
  const { names, slow, full } = await measureRoles(scope, { rounds, withTwoWorkers: true })
  return names
    .filter((name) => name !== 'all')
    .flatMap((subject) => {
      const one = { subject, base: 'all' }
      // Two workers have no targets: with two cores they take turns.
      const isTarget = subject === 'api + worker'
      return [
        rowOf(slow, (each) => each.p50Ms, {
          ...one,
          what: `${subject}, p50 at ${pace} events/s`,
          unit: 'ms',
          ...(isTarget && { target: { atMost: 3 } }),
        }),
        rowOf(slow, (each) => each.p99Ms, { ...one, what: `${subject}, p99 at ${pace} events/s`, unit: 'ms' }),
        rowOf(full, (each) => each.perSecond, {
          ...one,
          what: subject,
          unit: 'events/s',
          ...(isTarget && { target: { atLeast: 1 } }),
        }),
        rowOf(full, (each) => each.cpuUs, {
          ...one,
          what: `${subject}, CPU of the processes for an event`,
          unit: 'µs',
        }),
      ]
    })
}

/**
 * Compares one process of the role `all` with an `api` and a `worker`, and with an `api` and two workers: the time from
 * webhook in to webhook out at 50 events per second, and the events per second at full speed. The setups alternate.
 */
async function measureRoles(scope: Scope, { rounds, withTwoWorkers }: RoleOptions): Promise<Measured> {
  const embedded = await openEmbedded({ dataDir: scope.newFolder(), purpose: 'visitor' })
  scope.defer(() => embedded.close())
  const receiver = await scope.startTarget('receiver')
  const hookUrl = `http://127.0.0.1:${receiver.port}/`
  const compared: [string, string[]][] = [
    ['all', ['all']],
    ['api + worker', ['api', 'worker']],
  ]
  if (withTwoWorkers) compared.push(['api + 2 workers', ['api', 'worker', 'worker']])
  const setups = new Map<string, Setup>()
  for (const [name, roles] of compared) setups.set(name, await startSetup(scope, embedded, name, roles, hookUrl))

  /** Posts `events` webhooks with one message each. */
  async function measure(name: string, events: number, atPace?: number): Promise<Figures> {
    const { appId, ingress, processes } = setups.get(name) as Setup
    const requests = webhooksOf(appId, events, 1)
    const cpuUs = () => processes.reduce((sum, each) => sum + each.cpuUs(), 0)
    const before = cpuUs()
    const traffic =
      atPace === undefined ? { requests, events, connections: 64 } : { requests, events, connections: 8, pace: atPace }
    const delivered = await driveEvents(scope, ingress, receiver, traffic)
    scope.say(`${name}: ${delivered.perSecond.toFixed(0)} events/s, p50 ${delivered.p50Ms.toFixed(1)} ms`)
    return { ...delivered, cpuUs: (cpuUs() - before) / events }
  }

  const names = [...setups.keys()]
  for (const name of names) await measure(name, 2_000)
  const slow = await inTurn(names, rounds, (name) => measure(name, 200, pace))
  const full = await inTurn(names, rounds, (name) => measure(name, 6_000))
  return { names, slow, full }
}

async function startSetup(
  scope: Scope,
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
  const { appId } = await prepareAt(readConfig(env), { hookUrls: [hookUrl] })
  const processes: Target[] = []
  for (const role of roles) {
    processes.push(await scope.startTarget('role', JSON.stringify({ ...env, PARLEY_ROLE: role })))
  }
  return { name, appId, ingress: processes[0] as Target, processes }
}
