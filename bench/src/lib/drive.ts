import { allArrivals } from './arrivals.ts'
import { putUnderLoad } from './load.ts'
import type { Target } from './process.ts'
import type { Scope } from './scope.ts'
import { percentile } from './statistics.ts'

export interface Delivered {
  perSecond: number
  /** From the time at which an event was due, or from the start without a pace, to its arrival. */
  p50Ms: number
  p99Ms: number
  maxMs: number
  missing: number
  repeats: number
}

export interface Traffic {
  requests: readonly Buffer[]
  /** How many events the requests contain, numbered from 0. */
  events: number
  connections: number
  /** Events per second. Without it, as fast as the responses come. */
  pace?: number
}

/** Posts webhooks to the ingress and waits until all events have arrived at the receiver. */
export async function driveEvents(
  scope: Scope,
  ingress: Target,
  receiver: Target,
  { requests, events, connections, pace }: Traffic,
): Promise<Delivered> {
  const started = performance.timeOrigin + performance.now()
  const load = { port: ingress.port, connections, seconds: 120, requests, once: true }
  const { statuses } = await putUnderLoad(
    pace === undefined ? load : { ...load, pace: (pace / events) * requests.length },
  )
  const { times, missing, repeats, invalid } = await allArrivals(receiver, events)
  if (Object.keys(statuses).join() !== '200') scope.fault(`responses ${JSON.stringify(statuses)}`)
  if (missing + repeats + invalid > 0) {
    scope.fault(`${missing} events missing, ${repeats} repeated, ${invalid} not valid`)
  }
  const latencies = times.flatMap((time, number) =>
    time === undefined ? [] : [time - started - (pace === undefined ? 0 : (number / pace) * 1000)],
  )
  const last = times.reduce<number>((latest, time) => Math.max(latest, time ?? 0), 0)
  return {
    perSecond: (latencies.length / (last - started)) * 1000,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    maxMs: percentile(latencies, 1),
    missing,
    repeats,
  }
}
