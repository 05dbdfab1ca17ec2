import { setTimeout as sleep } from 'node:timers/promises'
import type { EventPage } from '@parley/contract/pulled-events'
import { expect, onTestFinished, test } from 'vitest'
import { callApi } from '../../../../testing/call.ts'
import { newLine } from '../../../../testing/deliveries.ts'
import { openTransaction, untilReadable } from '../../../../testing/open-transaction.ts'
import { rawConnection } from '../../../../testing/raw.ts'
import { serveApi, startTestServer, useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import { newWorkspace } from '../../../../testing/workspace.ts'
import { newLogger } from '../../../telemetry/logger.ts'
import { revokeKey } from '../../keys/keys.ts'
import { suspendWorkspace } from '../../workspaces/workspaces.ts'
import { publish } from '../engine/publish/publish.ts'
import { WaitingReaders } from './waiting-readers.ts'

/** `GET /v1/events` with `wait`. Every request here would take 25 seconds if nothing ended it. */
const requestsPerWorkspace = 5
const server = useTestServer({
  limits: { requests: { total: 1_000, each: requestsPerWorkspace }, addressConnections: 2_000 },
})
const quiet = newLogger('silent')

const metric = async (name: string, url = server.url): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
}

const heldName = 'parley_http_requests_held'
const held = (count: number, url = server.url) =>
  until(`${count} requests wait`, async () => (await metric(heldName, url)) === count, 60_000)

interface Waiting {
  status: number
  page: EventPage
}

/** Starts a request that waits for an event. */
async function waitFor(url: string, secret: string, query = ''): Promise<Waiting> {
  const { status, body } = await callApi(`${url}/v1/events?after=latest&wait=25${query}`, { key: secret })
  return { status, page: body as EventPage }
}

const insertWithoutNotice = (workspaceId: string) =>
  server.db.change(
    `insert into events (id, workspace_id, type, body, created_at) values (gen_random_uuid(), $1, 'message.sent', '{}', $2)`,
    [workspaceId, server.clock.now()],
  )

test('a request waits until there is an event, and counts as one request', async () => {
  const { workspace, write } = await newLine(server)
  const waiting = waitFor(server.url, workspace.secret)
  await held(1)
  await write(1)
  const { status, page } = await waiting
  expect(status).toBe(200)
  expect(page.data).toHaveLength(1)
  const { headers } = await workspace.call(`/v1/events?after=${page.next_cursor}`)
  expect(headers.get('ratelimit-remaining')).toBe('98')
  await held(0)
})

test('an event that another process publishes ends the wait', async () => {
  const { workspace, write } = await newLine(server)
  const other = await serveApi(server, quiet)
  onTestFinished(other.close)
  const waiting = waitFor(other.url, workspace.secret)
  await held(1, other.url)
  await write(1, server.url)
  expect((await waiting).page.data).toHaveLength(1)
})

test('a reader whose look ends late is woken for an event that another reader has read', async () => {
  const { id } = await newWorkspace(server)
  await insertWithoutNotice(id)
  await untilReadable(server.db)
  const { last } = (await server.db.first<{ last: string }>(
    'select position::text as last from events where workspace_id = $1',
    [id],
  )) ?? { last: '0' }
  const readers = new WaitingReaders(server.db, new Set())
  const [ahead, late] = [readers.enter(id, null), readers.enter(id, null)]
  ahead.foundNothing(BigInt(last), false)
  late.foundNothing(BigInt(last) - 1n, false)
  await until('it is woken', () => late.isWoken, 5_000)
})

test('events that are stored while an older transaction is open end the wait when that one ends, without a notice', async () => {
  const workspace = await newWorkspace(server)
  const foreign = { workspaceId: (await newWorkspace(server)).id, type: 'message.sent' as const, data: {} }
  const older = await openTransaction(server.db, (tx) => publish(tx, server.clock.now(), [foreign]))
  await insertWithoutNotice(workspace.id)
  const waiting = waitFor(server.url, workspace.secret)
  await held(1)
  await older.commit()
  // Long before its time is over.
  await until('it is woken', async () => (await metric(heldName)) === 0, 10_000)
  expect((await waiting).page.data).toHaveLength(1)
})

test('with a type, only an event of that type ends the wait', async () => {
  const { workspace, write } = await newLine(server)
  const waiting = waitFor(server.url, workspace.secret, '&type=message.sent')
  await held(1)
  await write(3)
  await untilReadable(server.db)
  const all = waitFor(server.url, workspace.secret)
  await held(2)
  await write(1)
  expect((await all).page.data.length).toBeGreaterThan(0)
  await held(1)
  const data = { message_id: 'msg_1' }
  await server.db.transaction((tx) =>
    publish(tx, server.clock.now(), [{ workspaceId: workspace.id, type: 'message.sent', data }]),
  )
  expect((await waiting).page).toMatchObject({ data: [{ type: 'message.sent', data }] })
})

test('without an event, the response comes when the time is over, with a cursor', async () => {
  const workspace = await newWorkspace(server)
  const { body } = await workspace.call('/v1/events?wait=1')
  expect(body).toEqual({ object: 'list', data: [], has_more: false, next_cursor: expect.any(String) })
})

test('an event without a notice, of a process that died after the commit, is found when the time is over', async () => {
  const workspace = await newWorkspace(server)
  const waiting = callApi(`${server.url}/v1/events?after=latest&wait=10`, { key: workspace.secret })
  await held(1)
  await insertWithoutNotice(workspace.id)
  expect((await waiting).body).toMatchObject({ data: [{}] })
})

test('a client that leaves is forgotten', async () => {
  const workspace = await newWorkspace(server)
  const leaving = new AbortController()
  const headers = { authorization: `Bearer ${workspace.secret}` }
  const request = fetch(`${server.url}/v1/events?wait=25`, { headers, signal: leaving.signal }).catch(() => null)
  await held(1)
  leaving.abort()
  await request
  await held(0)
  expect(await metric('parley_http_requests_in_progress')).toBeLessThanOrEqual(1)
})

test('requests that wait one behind the other on a connection are forgotten together when it is closed', async () => {
  const workspace = await newWorkspace(server)
  const connection = await rawConnection(server.url)
  const request = `GET /v1/events?wait=25 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${workspace.secret}\r\n\r\n`
  connection.send(request.repeat(3))
  await held(3)
  connection.socket.destroy()
  // Well before their time is over.
  await until('none waits', async () => (await metric(heldName)) === 0, 10_000)
})

test('a key that is revoked while its request waits gets no event, and no other key is affected', async () => {
  const { workspace, write } = await newLine(server)
  const { key, secret } = await workspace.newKey()
  const { secret: narrowed, key: narrow } = await workspace.newKey()
  const waiting = [secret, narrowed, workspace.secret].map((each) => waitFor(server.url, each))
  await held(3)
  await revokeKey(server.db, server.clock, key.id)
  await server.db.change(`update api_keys set scopes = '{messages:read}' where id = $1`, [narrow.id])
  await write(1)
  const [revoked, lost, kept] = await Promise.all(waiting)
  expect(revoked).toMatchObject({ status: 401, page: { error: { code: 'key_revoked' } } })
  expect(lost).toMatchObject({ status: 403, page: { error: { code: 'insufficient_scope' } } })
  expect(kept?.page.data).toHaveLength(1)
})

test('a request that waits when its workspace is suspended gets 403 at the end', async () => {
  const workspace = await newWorkspace(server)
  const waiting = callApi(`${server.url}/v1/events?after=latest&wait=2`, { key: workspace.secret })
  await held(1)
  await suspendWorkspace(server.db, server.clock, workspace.id, 'test')
  expect(await waiting).toMatchObject({ status: 403, body: { error: { code: 'workspace_suspended' } } })
})

test('an event is found although the connection that listens for notices was cut', async () => {
  const { workspace } = await newLine(server)
  const waiting = waitFor(server.url, workspace.secret)
  await held(1)
  // Together, and without a notice: only the new connection can wake the reader.
  await server.db.rows(
    `with published as (
       insert into events (id, workspace_id, type, body, created_at) values (gen_random_uuid(), $1, 'message.sent', '{}', $2)
     )
     select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = 'parley listener' and datname = current_database()`,
    [workspace.id, server.clock.now()],
  )
  await until('it is woken', async () => (await metric(heldName)) === 0, 10_000)
  expect((await waiting).page.data).toHaveLength(1)
})

test('requests that wait do not keep other requests of the workspace or the address out', async () => {
  const { workspace, write } = await newLine(server)
  const waiting = []
  for (let n = 0; n < requestsPerWorkspace * 3; n++) {
    waiting.push(waitFor(server.url, workspace.secret))
    await held(n + 1)
  }
  expect((await workspace.call('/v1/me')).status).toBe(200)
  expect(await metric('parley_http_requests_in_progress')).toBeLessThanOrEqual(1)
  await write(1)
  for (const { status, page } of await Promise.all(waiting)) {
    expect(status).toBe(200)
    expect(page.data).toHaveLength(1)
  }
  await held(0)
  // They are counted correctly afterwards: the workspace can have as many requests in progress as before.
  const together = Array.from({ length: requestsPerWorkspace }, () => workspace.call('/v1/me'))
  for (const { status } of await Promise.all(together)) expect(status).toBe(200)
})

test('too many requests that wait get 503, and one without wait does not', async () => {
  const own = await startTestServer({ limits: { heldRequests: { total: 3, each: 2 } } })
  onTestFinished(own.close)
  const [one, other] = [await newLine(own.server), await newLine(own.server)]
  const { url } = own.server
  const waiting = [1, 2].map(() => waitFor(url, one.workspace.secret))
  await held(2, url)
  const refused = await one.workspace.call('/v1/events?wait=25')
  expect(refused).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } })
  expect(refused.headers.get('retry-after')).toBe('1')
  expect((await one.workspace.call('/v1/events')).status).toBe(200)
  const third = waitFor(url, other.workspace.secret)
  await held(3, url)
  expect((await other.workspace.call('/v1/events?wait=25')).status).toBe(503)
  await one.write(1)
  await other.write(1)
  for (const { page } of await Promise.all([...waiting, third])) expect(page.data).toHaveLength(1)
})

test('workspaces share the places of a process: each that comes finds one, however many the others take', async () => {
  const own = await startTestServer({ limits: { heldRequests: { total: 12, each: 10 } } })
  onTestFinished(own.close)
  const { url } = own.server
  const lines = await Promise.all([1, 2, 3].map(() => newLine(own.server)))
  const waiting: Promise<Waiting>[] = []
  let places = 0
  for (const [index, { workspace }] of lines.entries()) {
    let own = 0
    for (; ; own++) {
      const request = waitFor(url, workspace.secret)
      const isRefused = await Promise.race([
        request.then(() => true),
        until('it waits', async () => (await metric(heldName, url)) === places + own + 1).then(() => false),
      ])
      if (isRefused) {
        expect((await request).status).toBe(503)
        break
      }
      waiting.push(request)
    }
    expect(own, `places of workspace ${index}`).toBe([6, 3, 2][index])
    places += own
  }
  for (const { write } of lines) await write(1)
  for (const { status } of await Promise.all(waiting)) expect(status).toBe(200)
})

test('stopping ends every wait immediately, with an empty page', async () => {
  const stopping = await serveApi(server, quiet)
  const workspace = await newWorkspace(server)
  const waiting = [1, 2, 3].map(() => waitFor(stopping.url, workspace.secret))
  await held(3, stopping.url)
  const closing = stopping.close()
  for (const { status, page } of await Promise.all(waiting)) {
    expect(status).toBe(200)
    expect(page).toEqual({ object: 'list', data: [], has_more: false, next_cursor: expect.any(String) })
  }
  await closing
})

test('200 requests wait without a connection to the database, and one event ends them all', async () => {
  const own = await startTestServer()
  onTestFinished(own.close)
  const { server: large } = own
  const { workspace, write } = await newLine(large)
  const secrets = await Promise.all(Array.from({ length: 4 }, async () => (await workspace.newKey()).secret))
  const statuses = new Set<number>()
  const readers: Promise<string[]>[] = []
  /** Repeats the request if its time is over, as clients do. */
  async function readOne(secret: string): Promise<string[]> {
    for (;;) {
      const { status, body } = await callApi(`${large.url}/v1/events?wait=25`, { key: secret })
      statuses.add(status)
      const { data } = body as EventPage
      if (status !== 200 || data.length > 0) return data?.map(({ id }) => id)
    }
  }
  for (const secret of secrets) {
    for (let n = 0; n < 50; n++) readers.push(readOne(secret))
    // A process does not accept more at once than its connections to the database can serve.
    await until('they wait', async () => (await metric(heldName, large.url)) > readers.length * 0.9)
  }
  await held(200, large.url)
  const busy = () => large.db.pools().reduce((sum, { open, idle, waiting }) => sum + open - idle + waiting, 0)
  let most = 0
  for (let n = 0; n < 25; n++) {
    most = Math.max(most, busy())
    await sleep(20)
  }
  expect(most).toBeLessThanOrEqual(2)
  expect((await workspace.call('/v1/me')).status).toBe(200)
  await write(1)
  const read = await Promise.all(readers)
  expect(statuses).toEqual(new Set([200]))
  expect(new Set(read.flat()).size).toBe(1)
  expect(read.flat()).toHaveLength(200)
})
