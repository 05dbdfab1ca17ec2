import { get } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { newDatabase } from '../../../testing/database.ts'
import { newLine, useDeliveryWorker } from '../../../testing/deliveries.ts'
import { useReceivers } from '../../../testing/receiver.ts'
import { urlOf } from '../../../testing/service.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { readConfig } from '../../config.ts'
import { startService } from '../../start.ts'
import { RequestMeter } from '../requests/meter.ts'
import { disableWebhook } from '../webhooks/webhooks.ts'
import { newMetrics } from './metrics.ts'

const server = useTestServer({ trustProxy: ['127.0.0.1/32'] })
const delivering = useDeliveryWorker(server)
const newReceiver = useReceivers()

const getMetrics = (headers: Record<string, string> = {}) => fetch(`${server.url}/metrics`, { headers })

/** Scrapes once; the result gives the value of a sample, or 0 if it is missing. */
async function scrape(): Promise<(sample: string) => number> {
  const text = await (await getMetrics()).text()
  return (sample) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${sample} `))
        ?.slice(sample.length) ?? 0,
    )
}

test('every metric has a help text and a type, and Parley’s own start with parley_', async () => {
  const response = await getMetrics()
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4')
  const text = await response.text()
  const names = [...text.matchAll(/^# TYPE (\S+) (counter|gauge|histogram|summary)$/gm)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(30)
  for (const name of names) {
    expect(name).toMatch(/^(parley|process|nodejs)_/)
    expect(text).toMatch(new RegExp(`^# HELP ${name} \\S.*$`, 'm'))
  }
  expect(text).toContain('process_cpu_seconds_total')
  expect(text).toMatch(/^parley_build_info\{version="\d+\.\d+\.\d+"\} 1$/m)
  expect(text).toMatch(/^parley_database_up 1$/m)
  expect(text).toMatch(/^parley_database_size_bytes \d{7,}$/m)
  expect(text).toMatch(/^parley_file_quota_used_ratio 0$/m)
})

test('a database that is slow to count is up, and what it counted late is in the next scrape', async () => {
  let finish = () => {}
  const isFinished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const metrics = newMetrics({
    db: {
      ...server.db,
      async first(text, values) {
        if (/pg_database_size|from deliveries/.test(text)) await isFinished
        return server.db.first(text, values)
      },
    },
    ...{ clock: server.clock, replica: null, dataDir: null, maxStoredBytes: 1, version: '0.0.0' },
    ...{ requests: new RequestMeter([]), bodies: { bytes: 0 }, heldRequests: { count: 0 } },
    connections: { open: 0, max: 1, requests: 0 },
  })
  const slow = await metrics.render()
  expect(slow).toMatch(/^parley_database_up 1$/m)
  expect(slow).not.toMatch(/^parley_(database_size_bytes|deliveries_waiting) /m)
  finish()
  await until('a scrape has both', async () => {
    const next = await metrics.render()
    return /^parley_database_size_bytes \d{7,}$/m.test(next) && /^parley_deliveries_waiting \d+$/m.test(next)
  })
})

test('requests are counted by route and status class, and an unknown path is never a label', async () => {
  const workspace = await newWorkspace(server)
  const before = await scrape()
  await workspace.call('/v1/me')
  await workspace.call('/v1/me')
  await server.call('/v1/me')
  await server.call('/v1/secret-path-31415')
  const sample = (route: string, status: string) =>
    `parley_http_requests_total{route="${route}",method="GET",status="${status}"}`
  const after = await scrape()
  const grown = (name: string) => after(name) - before(name)
  expect(grown(sample('/v1/me', '2xx'))).toBe(2)
  expect(grown(sample('/v1/me', '4xx'))).toBe(1)
  expect(grown(sample('other', '4xx'))).toBe(1)
  expect(grown('parley_http_request_duration_seconds_count{route="/v1/me",method="GET"}')).toBe(3)
  expect(grown('parley_http_request_duration_seconds_bucket{route="/v1/me",method="GET",le="+Inf"}')).toBe(3)
  expect(await (await getMetrics()).text()).not.toContain('31415')
})

test('sends and network webhooks are counted from 0, because alerts do not see a series that begins later', async () => {
  const text = await (await getMetrics()).text()
  for (const outcome of ['sent', 'retry', 'failed', 'unknown'])
    expect(text).toContain(`\nparley_sends_total{outcome="${outcome}"} 0\n`)
  for (const outcome of ['kept', 'refused', 'failed'])
    expect(text).toMatch(new RegExp(`^parley_network_webhooks_total\\{outcome="${outcome}"\\} \\d+$`, 'm'))
})

test('webhooks, events, delivery attempts and held deliveries are counted', async () => {
  const [receiver, line] = [await newReceiver(), await newLine(server)]
  const { id } = await line.listen(receiver)
  const before = await scrape()
  receiver.next(500)
  await line.write(3)
  await delivering.worker.drain()
  await disableWebhook(server.db, server.clock, id, 'moving')
  await line.write(2)
  const after = await scrape()
  const grown = (name: string) => after(name) - before(name)
  expect(grown('parley_network_webhooks_total{outcome="kept"}')).toBe(2)
  expect(grown('parley_events_total{type="message.received"}')).toBe(5)
  expect(grown('parley_delivery_attempts_total{outcome="delivered"}')).toBe(3)
  expect(grown('parley_delivery_attempts_total{outcome="retrying"}')).toBe(1)
  expect(grown('parley_delivery_errors_total{error="http"}')).toBe(1)
  expect(grown('parley_delivery_attempt_duration_seconds_count')).toBe(4)
  // Read from the database at most every two seconds.
  await expect.poll(async () => (await scrape())('parley_deliveries_held')).toBe(2)
})

test('without a token, only direct requests from this machine may read the metrics', async () => {
  for (const name of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via']) {
    const response = await getMetrics({ [name]: '127.0.0.1' })
    expect(response.status, name).toBe(403)
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining('PARLEY_METRICS_TOKEN') } })
  }
  const { port } = new URL(server.url)
  for (const [host, status] of [
    ['parley.example', 403],
    ['127.0.0.1.evil.example', 403],
    [`localhost:${port}`, 200],
    [`[::1]:${port}`, 200],
  ] as const) {
    const responded = new Promise((resolve) => {
      get(`${server.url}/metrics`, { headers: { host } }, (response) => resolve(response.resume().statusCode))
    })
    expect(await responded, host).toBe(status)
  }
})

test('with a token, requests need it, also from this machine, and may come through a proxy', async () => {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  const service = await startService({
    config: readConfig({
      PORT: '0',
      DATABASE_URL: urlOf(connection),
      PARLEY_SECRET_KEYS: `k:${Buffer.alloc(32, 7).toString('base64')}`,
      PARLEY_METRICS_TOKEN: 'metrics-token',
      LOG_LEVEL: 'silent',
    }),
  })
  onTestFinished(() => service.stop())
  const statusFor = async (headers: Record<string, string>) =>
    (await fetch(`${service.url}/metrics`, { headers })).status
  expect(await statusFor({})).toBe(401)
  expect(await statusFor({ authorization: 'Bearer metrics-toke' })).toBe(401)
  expect(await statusFor({ authorization: 'metrics-token' })).toBe(401)
  expect(await statusFor({ authorization: 'Bearer metrics-token' })).toBe(200)
  expect(await statusFor({ authorization: 'Bearer metrics-token', 'x-forwarded-for': '203.0.113.9' })).toBe(200)
})
