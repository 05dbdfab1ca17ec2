/** Messages from `POST /v1/messages` to the deliveries of their events, and of the reply to each. */
import { allArrivals, setReceiver } from './arrivals.ts'
import { putUnderLoad } from './load.ts'
import { sendRequest } from './prepare.ts'
import { type CpuUs, withCpu } from './process.ts'
import type { Scope } from './scope.ts'
import { lifecycleEvents, readNetworkLog, type Sending } from './sending.ts'
import { percentile } from './statistics.ts'

export interface Lifecycles {
  perSecond: number
  /** From the 202 to the third status event at the receiver. */
  p50Ms: number
  p99Ms: number
  /** Of one message. */
  cpuUs: CpuUs
}

/**
 * Sends `count` messages and waits for all events. A missing, repeated or wrongly signed delivery, and a message that was sent
 * twice, is a fault. `firstKey` continues where the last call ended, so that no key exceeds its rate limit.
 */
export async function driveLifecycles(
  scope: Scope,
  { target, network, receiver, keys, secrets }: Sending,
  { count, firstKey, pace }: { count: number; firstKey: number; pace?: number },
): Promise<Lifecycles> {
  await setReceiver(receiver, { types: lifecycleEvents, secrets })
  const requests = Array.from({ length: count }, (_, number) =>
    sendRequest(keys[(firstKey + number) % keys.length] ?? '', number),
  )
  const acceptedAt: number[] = []
  const onResponse = (number: number, at: number) => {
    acceptedAt[number] = at
  }
  const load = { port: target.port, connections: 32, seconds: 120, requests, once: true, onResponse }
  const started = performance.timeOrigin + performance.now()
  const { result, cpuUs } = await withCpu(target, async () => {
    const { statuses } = await putUnderLoad(pace === undefined ? load : { ...load, pace })
    return { statuses, ...(await allArrivals(receiver, count * lifecycleEvents.length)) }
  })
  const { statuses, times, missing, repeats, invalid } = result
  const { calledAt, repeats: sentTwice, rejected } = await readNetworkLog(network)
  const called = Object.keys(calledAt).length
  if (statuses['202'] !== count) scope.fault(`responses ${JSON.stringify(statuses)} to ${count} messages`)
  if (missing + repeats + invalid > 0) {
    scope.fault(`${missing} deliveries missing, ${repeats} repeated, ${invalid} not valid`)
  }
  if (called !== count || sentTwice > 0) scope.fault(`${called} of ${count} messages sent, ${sentTwice} sent twice`)
  if (rejected > 0) scope.fault(`${rejected} webhooks of the network were not accepted`)
  const third = lifecycleEvents.length - 1
  const latencies = acceptedAt.flatMap((at, number) => {
    const first = number * lifecycleEvents.length
    const statusTimes = times.slice(first, first + third).filter((time) => time !== undefined)
    return statusTimes.length === third ? [Math.max(...statusTimes) - at] : []
  })
  const last = times.reduce<number>((latest, time) => Math.max(latest, time ?? 0), 0)
  return {
    perSecond: (count / (last - started)) * 1000,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    cpuUs: { process: cpuUs.process / count, postgres: cpuUs.postgres / count },
  }
}
