import { setTimeout as sleep } from 'node:timers/promises'
import type { Metric, Registry } from 'prom-client'
import type { Database } from '../../db/db.ts'
import { readMaintenance } from '../../db/maintenance.ts'
import type { ReplicaState } from '../../db/replica/replica-watch.ts'
import type { Clock } from '../../lib/clock.ts'
import { freeBytes } from '../../lib/disk.ts'
import { load } from '../../lib/load.ts'
import { type DurationHistogram, durationBounds } from '../../telemetry/counters.ts'
import { fullestWorkspaces } from '../files/quota.ts'
import { readMailQueue } from '../mail/outbox.ts'
import type { RequestMeter } from '../requests/meter.ts'
import { readServer } from './health.sql.ts'
import { type Queues, readQueues } from './traffic.ts'

export interface MetricsDeps {
  db: Database
  /** Null without PARLEY_DATABASE_READ_URL. */
  replica: ReplicaState | null
  clock: Clock
  requests: RequestMeter
  /** Bytes of request bodies in memory. */
  bodies: { readonly bytes: number }
  /** The connections to the HTTP server, and their requests in progress. */
  connections: { readonly open: number; readonly max: number; readonly requests: number }
  /** Requests that wait for an event. They are not in progress. */
  heldRequests: { readonly count: number }
  /** The folder of the embedded database; null if there is none. */
  dataDir: string | null
  maxStoredBytes: number
  version: string
}

export interface Metrics {
  contentType: string
  render(): Promise<string>
}

interface Value {
  value: number
  labels?: Record<string, string>
  metricName?: string
}

/** One value without labels, or several; none if it is unknown. */
type Read = number | null | undefined | Value[]

const queuesCachedForMs = 2_000
/** To sum up the size of the database, PostgreSQL asks for the size of each of its files. All stored files are summed up, too. */
const sizeCachedForMs = 5 * 60_000
const timeoutMs = 3_000
/** How much longer a result is returned while the next read takes too long: some scrapes. */
const lateForMs = 2 * 60_000

/**
 * This process's counters, and the queues in the database. The code that counts increments plain numbers; they are read
 * at each scrape. The registry is created at the first one.
 */
export function newMetrics(deps: MetricsDeps): Metrics {
  let registry: Registry | undefined
  return {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    render() {
      registry ??= newRegistry(deps)
      return registry.metrics()
    },
  }
}

function newRegistry(deps: MetricsDeps): Registry {
  const { db, replica, clock, requests, bodies, connections, heldRequests, dataDir, maxStoredBytes, version } = deps
  const { Registry, collectDefaultMetrics } = load('prom-client') as typeof import('prom-client')
  const registry = new Registry()
  const counted = db.telemetry.metrics
  const queues = cached(() => readQueues(db, clock.now()))
  const maintenance = cached(() => readMaintenance(db))
  const mails = cached(() => readMailQueue(db))
  const server = cached(() => readServer(db), sizeCachedForMs)
  const stored = cached(() => fullestWorkspaces(db, 0), sizeCachedForMs)
  const metric = (type: string, name: string, help: string, read: () => Read | Promise<Read>) => {
    const get = async () => ({ name, help, type, values: toValues(await read()) })
    // prom-client's own classes need every increment; the registry itself needs only a name and `get`.
    registry.registerMetric({ name, get } as unknown as Metric)
  }
  const counter = metric.bind(null, 'counter')
  const gauge = metric.bind(null, 'gauge')
  const histogram = (name: string, help: string, read: () => Timed[]) =>
    metric('histogram', name, help, () => read().flatMap((timed) => histogramValues(name, timed)))
  // `fromStart` are present with 0. Prometheus does not see an increase in the first value of a series.
  const labeledCounter = (name: string, help: string, counterName: string, label: string, fromStart: string[] = []) =>
    counter(name, help, () => {
      const zeros = fromStart.map((kind): [string, number] => [kind, 0])
      const counts = new Map([...zeros, ...counted.counts(counterName)])
      return [...counts].map(([kind, value]) => ({ value, labels: { [label]: kind } }))
    })
  const queue = (name: string, help: string, read: (queues: Queues) => Read) =>
    gauge(name, help, async () => {
      const found = await queues()
      return found && read(found)
    })

  gauge('parley_build_info', 'The version of Parley', () => [{ value: 1, labels: { version } }])
  gauge('parley_database_up', '1 if the database responds, otherwise 0', async () => ((await responds(db)) ? 1 : 0))
  counter('parley_http_requests_total', 'Requests under /v1, by route and status class', () =>
    [...requests.read()].flatMap(({ route, method, classes }) =>
      [...classes].flatMap((value, at) => (value ? [{ value, labels: { route, method, status: `${at}xx` } }] : [])),
    ),
  )
  histogram('parley_http_request_duration_seconds', 'Duration of requests under /v1', () =>
    Array.from(requests.read(), ({ route, method, spans }) => ({ spans, labels: { route, method } })),
  )
  labeledCounter(
    'parley_unauthenticated_requests_total',
    'Requests without a workspace, by whether the request itself or only its count was logged',
    'unauthenticated requests',
    'logged_as',
  )
  labeledCounter(
    'parley_request_log_lost_total',
    'Requests that are missing from the request log, by reason',
    'requests not logged',
    'reason',
  )
  gauge('parley_http_body_bytes', 'Bytes of request bodies in memory', () => bodies.bytes)
  gauge('parley_http_connections', 'Open connections to the HTTP server', () => connections.open)
  gauge('parley_http_connections_max', 'How many connections the HTTP server accepts', () => connections.max)
  gauge('parley_http_requests_in_progress', 'Requests in progress, on all paths', () => connections.requests)
  gauge('parley_http_requests_held', 'HTTP requests that wait for an event', () => heldRequests.count)
  labeledCounter(
    'parley_http_overload_total',
    'Connections closed and requests rejected with 503, by the limit they exceeded',
    'overload',
    'limit',
  )
  labeledCounter(
    'parley_sign_in_refused_total',
    'Requests to sign in or to use a link that a limit rejected, by error code',
    'sign-ins refused',
    'code',
  )
  labeledCounter(
    'parley_network_webhooks_total',
    'Webhooks received from WhatsApp, by outcome',
    'network webhooks',
    'outcome',
    ['kept', 'refused', 'failed'],
  )
  counter('parley_network_updates_total', 'Changes of webhooks that were not understood completely', () =>
    [...counted.counts('network updates')].map(([label, value]) => {
      const [field = '', outcome = ''] = label.split(' ')
      return { value, labels: { field, outcome } }
    }),
  )
  histogram('parley_network_webhook_duration_seconds', 'Time to respond to a webhook from WhatsApp', () => [
    { spans: counted.durations('network webhooks') },
  ])
  labeledCounter(
    'parley_events_total',
    'Events published, by type; message.received counts incoming messages',
    'events',
    'type',
  )
  labeledCounter('parley_sends_total', 'Send requests to WhatsApp, by outcome', 'sends', 'outcome', [
    'sent',
    'retry',
    'failed',
    'unknown',
  ])
  labeledCounter('parley_file_downloads_total', 'Downloads of files from WhatsApp', 'file downloads', 'outcome')
  labeledCounter('parley_file_uploads_total', 'Uploads of files to WhatsApp', 'file uploads', 'outcome')
  labeledCounter(
    'parley_read_receipts_total',
    'Requests to mark inbound messages as read, by outcome',
    'read receipts',
    'outcome',
  )
  labeledCounter(
    'parley_delivery_attempts_total',
    'Delivery attempts, by the resulting state of the delivery',
    'attempts',
    'outcome',
  )
  labeledCounter('parley_delivery_errors_total', 'Failed delivery attempts, by error class', 'attempt errors', 'error')
  histogram('parley_delivery_attempt_duration_seconds', 'Duration of delivery attempts, including timeouts', () => [
    { spans: counted.durations('attempts') },
  ])
  labeledCounter(
    'parley_file_store_requests_total',
    'Requests to the file store, by outcome',
    'file store requests',
    'outcome',
  )
  labeledCounter(
    'parley_name_lookups_total',
    'Look-ups of the host names of webhooks that were not cached, by outcome',
    'name lookups',
    'outcome',
  )
  queue(
    'parley_deliveries_waiting',
    'Deliveries waiting for their next attempt',
    ({ deliveries }) => deliveries.waiting,
  )
  queue('parley_deliveries_held', 'Deliveries held for disabled webhooks', ({ deliveries }) => deliveries.held)
  queue('parley_deliveries_overdue', 'Deliveries whose next attempt is overdue', ({ deliveries }) => deliveries.overdue)
  queue(
    'parley_deliveries_oldest_overdue_seconds',
    'How late the oldest overdue delivery is',
    ({ deliveries }) => deliveries.oldestOverdueMs / 1000,
  )
  queue('parley_replays_running', 'Replays in progress, also held ones', ({ replays }) => replays.open)
  queue('parley_outbox_messages', 'Messages in the outbox, by state', ({ outbox }) =>
    (['waiting', 'claimed', 'calling', 'unknown', 'expired'] as const).map((state) => ({
      value: outbox[state],
      labels: { state },
    })),
  )
  queue(
    'parley_outbox_oldest_overdue_seconds',
    'How late the oldest overdue message is',
    ({ outbox }) => outbox.oldestOverdueMs / 1000,
  )
  queue(
    'parley_parked_updates',
    'Updates parked for phone numbers that are not synced yet',
    ({ parked }) => parked.updates,
  )
  queue(
    'parley_parked_updates_oldest_seconds',
    'Age of the oldest parked update',
    ({ parked }) => parked.oldestMs / 1000,
  )
  labeledCounter('parley_mails_total', 'Emails, by outcome', 'mails', 'outcome')
  gauge('parley_mails_waiting', 'Emails that are not sent yet', async () => (await mails())?.waiting)
  gauge('parley_mails_oldest_seconds', 'Age of the oldest email that is not sent yet', async () => {
    const queue = await mails()
    if (!queue?.oldestAt) return queue && 0
    return Math.max(0, (clock.now().getTime() - queue.oldestAt.getTime()) / 1000)
  })
  gauge('parley_database_connections', 'Database connections of this process, by pool and state', () =>
    db.pools().flatMap(({ pool, open, idle }) => [
      { value: open - idle, labels: { pool, state: 'busy' } },
      { value: idle, labels: { pool, state: 'idle' } },
    ]),
  )
  gauge('parley_database_connection_waiters', 'Statements waiting for a database connection, by pool', () =>
    db.pools().map(({ pool, waiting }) => ({ value: waiting, labels: { pool } })),
  )
  gauge('parley_database_size_bytes', 'The size of the database', async () => (await server())?.bytes)
  gauge(
    'parley_file_quota_used_ratio',
    'The share of its quota for files that the fullest workspace uses',
    async () => {
      const fullest = await stored()
      return fullest && (fullest[0]?.bytes ?? 0) / maxStoredBytes
    },
  )
  gauge('parley_disk_free_bytes', 'Free space on the disk of the embedded database', () => {
    const free = dataDir === null ? Number.POSITIVE_INFINITY : freeBytes(dataDir)
    return Number.isFinite(free) ? free : null
  })
  if (replica) {
    gauge('parley_database_replica_used', '1 if the console reads from the replica, otherwise 0', () =>
      replica.whyLeft === null ? 1 : 0,
    )
    gauge(
      'parley_database_replica_behind_seconds',
      'How old the state of the replica may be',
      () => replica.behindMs / 1000,
    )
    counter('parley_database_replica_repeated_total', 'Reads that failed on the replica and used the primary', () =>
      [...counted.counts('replica reads repeated')].map(([, value]) => ({ value })),
    )
  }
  gauge('parley_maintenance_owner', '1 if a process does the maintenance, otherwise 0', async () => {
    const state = await maintenance()
    return state && [{ value: state.withoutOwnerMs === 0 ? 1 : 0, labels: { process: state.process ?? '' } }]
  })
  gauge('parley_maintenance_step_failed', '1 if the last run of a step of the maintenance failed', async () =>
    (await maintenance())?.steps.map(({ step, error }) => ({ value: error === null ? 0 : 1, labels: { step } })),
  )
  gauge('parley_maintenance_step_age_seconds', 'Time since a step of the maintenance last succeeded', async () =>
    (await maintenance())?.steps.flatMap(({ step, sinceSuccessMs }) =>
      sinceSuccessMs === null ? [] : [{ value: sinceSuccessMs / 1000, labels: { step } }],
    ),
  )
  labeledCounter('parley_trace_spans_total', 'Spans for OpenTelemetry, by outcome', 'trace spans', 'outcome')
  labeledCounter('parley_loop_failures_total', 'Failed runs of background loops', 'loop failures', 'loop')
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 50 })
  return registry
}

const toValues = (read: Read): Value[] => (typeof read === 'number' ? [{ value: read }] : (read ?? []))

interface Timed {
  spans: DurationHistogram
  labels?: Record<string, string>
}

/** Durations as Prometheus expects a histogram: cumulative buckets, sum and count. */
function histogramValues(name: string, { spans: { buckets, seconds }, labels = {} }: Timed): Value[] {
  let sum = 0
  const values: Value[] = [...buckets].map((value, at) => {
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

/**
 * Caches the result, so that all metrics of a scrape share one read. If a read takes longer than a scrape can wait, the result
 * before it is returned, unless that is old; then null. The next scrape has the late result. A failed read is null.
 */
function cached<T>(read: () => Promise<T>, forMs = queuesCachedForMs): () => Promise<T | null> {
  let last: { value: T | null; atMs: number } = { value: null, atMs: Number.NEGATIVE_INFINITY }
  let reading: Promise<unknown> | undefined
  const isWithin = (ms: number) => performance.now() - last.atMs <= ms
  return async () => {
    if (!reading && !isWithin(last.value === null ? queuesCachedForMs : forMs)) {
      const done = read()
        .catch(() => null)
        .then((value) => {
          last = { value, atMs: performance.now() }
          reading = undefined
        })
      reading = Promise.race([done, sleep(timeoutMs, null, { ref: false })])
    }
    await reading
    return isWithin(forMs + lateForMs) ? last.value : null
  }
}

/** Not cached: it says how the database is now. */
const responds = (db: Database): Promise<boolean> =>
  Promise.race([
    db.rows('select 1').then(
      () => true,
      () => false,
    ),
    sleep(timeoutMs, false, { ref: false }),
  ])
