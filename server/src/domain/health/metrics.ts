import { collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import type { Database } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { type DurationHistogram, durationBounds } from '../../lib/counters.ts'
import type { RequestMeter } from '../requests/meter.ts'
import { type Queues, readQueues } from './traffic.ts'

export interface MetricsDeps {
  db: Database
  clock: Clock
  requests: RequestMeter
  /** Bytes of request bodies in memory. */
  bodies: { readonly bytes: number }
  version: string
}

export interface Metrics {
  contentType: string
  /** All there is to tell, as Prometheus reads it. */
  render(): Promise<string>
}

interface Value {
  value: number
  labels?: Record<string, string>
  metricName?: string
}

const queuesForMs = 2_000
const timeoutMs = 3_000

/**
 * What this process has counted, and what waits in the database. Counting is done elsewhere, by plain numbers; here they
 * are read when somebody asks. Nothing is set up before that.
 */
export function newMetrics(deps: MetricsDeps): Metrics {
  let registry: Registry | undefined
  return {
    contentType: Registry.PROMETHEUS_CONTENT_TYPE,
    render() {
      registry ??= newRegistry(deps)
      return registry.metrics()
    },
  }
}

function newRegistry({ db, clock, requests, bodies, version }: MetricsDeps): Registry {
  const registry = new Registry()
  const counted = db.process.metrics
  const queues = asked(() => readQueues(db, clock.now()))
  const metric = (type: string, name: string, help: string, read: () => Value[] | Promise<Value[]>) => {
    const get = async () => ({ name, help, type, values: await read() })
    // Their own classes want each number the moment it changes; the registry itself asks no more of a metric than this.
    registry.registerMetric({ name, get } as unknown as Metric)
  }
  const counter = metric.bind(null, 'counter')
  const gauge = metric.bind(null, 'gauge')
  const histogram = metric.bind(null, 'histogram')
  const tally = (name: string, help: string, what: string, label: string) =>
    counter(name, help, () => [...counted.counts(what)].map(([kind, value]) => ({ value, labels: { [label]: kind } })))
  const queue = (name: string, help: string, read: (queues: Queues) => Value[]) =>
    gauge(name, help, async () => {
      const found = await queues()
      return found ? read(found) : []
    })

  gauge('parley_build_info', 'Which Parley this is', () => [{ value: 1, labels: { version } }])
  gauge('parley_database_up', 'Whether the database answers (1) or not (0)', async () => [
    { value: (await queues()) ? 1 : 0 },
  ])
  counter('parley_http_requests_total', 'Requests under /v1 by route and class of status', () =>
    [...requests.read()].flatMap(({ route, method, classes }) =>
      [...classes].flatMap((value, at) => (value ? [{ value, labels: { route, method, status: `${at}xx` } }] : [])),
    ),
  )
  histogram('parley_http_request_duration_seconds', 'How long requests under /v1 took', () =>
    [...requests.read()].flatMap(({ route, method, spans }) =>
      classesOf('parley_http_request_duration_seconds', spans, { route, method }),
    ),
  )
  gauge('parley_http_body_bytes', 'Bytes of request bodies in memory', () => [{ value: bodies.bytes }])
  tally(
    'parley_http_bodies_refused_total',
    'Request bodies refused with 503, by the memory limit they exceeded',
    'bodies refused',
    'limit',
  )
  tally(
    'parley_network_webhooks_total',
    'Webhooks of the network by what became of them',
    'network webhooks',
    'outcome',
  )
  histogram('parley_network_webhook_duration_seconds', 'How long the network waited for our answer', () =>
    classesOf('parley_network_webhook_duration_seconds', counted.durations('network webhooks')),
  )
  tally('parley_events_total', 'Events published, by type; message.received is what people wrote', 'events', 'type')
  tally('parley_sends_total', 'Messages handed to the network, by what it said', 'sends', 'outcome')
  tally('parley_delivery_attempts_total', 'Attempts by what becomes of the delivery', 'attempts', 'outcome')
  tally('parley_delivery_errors_total', 'Failed attempts by class of error', 'attempt errors', 'error')
  histogram('parley_delivery_attempt_duration_seconds', 'How long receivers took to answer, or did not', () =>
    classesOf('parley_delivery_attempt_duration_seconds', counted.durations('attempts')),
  )
  queue('parley_deliveries_waiting', 'Deliveries not finished and not held', ({ deliveries }) => [
    { value: deliveries.waiting },
  ])
  queue('parley_deliveries_held', 'Deliveries held for disabled endpoints', ({ deliveries }) => [
    { value: deliveries.held },
  ])
  queue('parley_deliveries_overdue', 'Deliveries that should have been attempted by now', ({ deliveries }) => [
    { value: deliveries.overdue },
  ])
  queue('parley_deliveries_oldest_overdue_seconds', 'By how much the oldest of them is late', ({ deliveries }) => [
    { value: deliveries.oldestOverdueMs / 1000 },
  ])
  queue('parley_outbox_messages', 'Messages whose sending is not settled, by state', ({ outbox }) =>
    (['waiting', 'claimed', 'calling', 'unknown', 'expired'] as const).map((state) => ({
      value: outbox[state],
      labels: { state },
    })),
  )
  queue('parley_outbox_oldest_overdue_seconds', 'By how much the oldest message to send is late', ({ outbox }) => [
    { value: outbox.oldestOverdueMs / 1000 },
  ])
  queue('parley_parked_updates', 'Updates parked for phone numbers that are not synced yet', ({ parked }) => [
    { value: parked.updates },
  ])
  queue('parley_parked_updates_oldest_seconds', 'Age of the oldest parked update', ({ parked }) => [
    { value: parked.oldestMs / 1000 },
  ])
  gauge('parley_database_connections', 'Connections of this process, by pool and state', () =>
    db.pools().flatMap(({ pool, open, idle }) => [
      { value: open - idle, labels: { pool, state: 'busy' } },
      { value: idle, labels: { pool, state: 'idle' } },
    ]),
  )
  gauge('parley_database_connection_waiters', 'Statements that wait for a connection, by pool', () =>
    db.pools().map(({ pool, waiting }) => ({ value: waiting, labels: { pool } })),
  )
  tally('parley_loop_failures_total', 'Turns of a background loop that failed', 'loop failures', 'loop')
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 50 })
  return registry
}

/** Spans as a histogram tells them: how many up to each bound, how many at all, and their sum. */
function classesOf(
  name: string,
  { buckets: classes, seconds }: DurationHistogram,
  labels: Record<string, string> = {},
): Value[] {
  let sum = 0
  const values: Value[] = [...classes].map((value, at) => {
    sum += value
    const le = at < durationBounds.length ? String(durationBounds[at]) : '+Inf'
    return { metricName: `${name}_bucket`, value: sum, labels: { ...labels, le } }
  })
  values.push(
    { metricName: `${name}_sum`, value: seconds, labels },
    { metricName: `${name}_count`, value: sum, labels },
  )
  return values
}

/** Asked once for all who want it within a moment; null if there is no answer in time. */
function asked<T>(ask: () => Promise<T>): () => Promise<T | null> {
  let askedMs = Number.NEGATIVE_INFINITY
  let response: Promise<T | null> = Promise.resolve(null)
  return () => {
    if (performance.now() - askedMs > queuesForMs) {
      askedMs = performance.now()
      const late = new Promise<null>((resolve) => setTimeout(resolve, timeoutMs, null).unref())
      response = Promise.race([ask().catch(() => null), late])
    }
    return response
  }
}
