import { inTurn, rowOf } from './lib/in-turn.ts'
import { driveLifecycles } from './lib/lifecycles.ts'
import { appSecret, numberAt } from './lib/prepare.ts'
import type { Target } from './lib/process.ts'
import type { Scope } from './lib/scope.ts'
import { connectNetwork, prepareSending, type Sending, startSending } from './lib/sending.ts'
import { numberSetting } from './lib/settings.ts'
import { formatNumber, type Row } from './lib/table.ts'
import { rawLimitSecret } from './targets/raw-limit.ts'

const messages = numberSetting('BENCH_LIFECYCLES', 4_000)
const rounds = numberSetting('BENCH_ROUNDS', 3)
const pace = 100
const pacedMessages = Math.min(1_500, messages)

/**
 * The whole life of a message: accepted, sent to the network, its statuses sent, delivered and read, and a reply. Each of the
 * four events is delivered, signed, to a receiver. For comparison, `raw-limit` makes the same requests without storing
 * anything.
 */
export async function benchLifecycle(scope: Scope): Promise<Row[]> {
  const receiver = await scope.startTarget('receiver')
  const services = new Map<string, Sending>([
    ['raw-limit', await startRawLimit(scope, receiver)],
    ['parley', await startSending(scope, await prepareSending(scope, receiver, 'parley'))],
  ])
  const names = [...services.keys()]
  let firstKey = 0
  async function measure(name: string, count: number, atPace?: number) {
    const service = services.get(name) as Sending
    const traffic = { count, firstKey, ...(atPace !== undefined && { pace: atPace }) }
    firstKey += count
    const measured = await driveLifecycles(scope, service, traffic)
    const { perSecond, p50Ms, p99Ms } = measured
    scope.say(
      `${name}: ${formatNumber(perSecond)} messages/s, p50 ${formatNumber(p50Ms)} ms, p99 ${formatNumber(p99Ms)} ms`,
    )
    return measured
  }
  for (const name of names) await measure(name, Math.min(2_000, messages))
  const full = await inTurn(names, rounds, (name) => measure(name, messages))
  const paced = await inTurn(names, rounds, (name) => measure(name, pacedMessages, pace))
  const one = { subject: 'parley', base: 'raw-limit' }
  const what = 'a message and its four events'
  const latency = `from 202 to the third delivery at ${pace} messages/s`
  return [
    rowOf(full, (each) => each.perSecond, { ...one, what, unit: 'messages/s', target: { atLeast: 0.6 } }),
    rowOf(full, ({ cpuUs }) => cpuUs.process + cpuUs.postgres, { ...one, what: `${what}, CPU`, unit: 'µs' }),
    rowOf(full, ({ cpuUs }) => cpuUs.postgres, {
      what: `${what}, of that PostgreSQL`,
      unit: 'µs',
      subject: 'parley',
    }),
    rowOf(paced, (each) => each.p50Ms, { ...one, what: `${latency}, p50`, unit: 'ms' }),
    rowOf(paced, (each) => each.p99Ms, { ...one, what: `${latency}, p99`, unit: 'ms' }),
  ]
}

async function startRawLimit(scope: Scope, receiver: Target): Promise<Sending> {
  const network = await scope.startTarget('network')
  const options = {
    appSecret,
    hookUrl: `http://127.0.0.1:${receiver.port}/raw-limit`,
    networkUrl: `http://127.0.0.1:${network.port}`,
    phoneNumberId: numberAt(0),
  }
  const target = await scope.startTarget('raw-limit', JSON.stringify(options))
  await connectNetwork(network, target, 'bench')
  return { target, network, receiver, keys: ['any'], secrets: { '/raw-limit': rawLimitSecret } }
}
