import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventPage } from '@parley/contract/pulled-events'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { type ApiResponse, callApi } from '../../../../testing/call.ts'
import { type Line, newLine, useDeliveryWorker } from '../../../../testing/deliveries.ts'
import { openTransaction, untilReadable } from '../../../../testing/open-transaction.ts'
import { useReceivers } from '../../../../testing/receiver.ts'
import { serveApi, startTestServer, type TestServer, useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import { newWorkspace, type TestWorkspace } from '../../../../testing/workspace.ts'
import { dropOldPartitions } from '../../../db/partitions.ts'
import { newUuid } from '../../../lib/ids.ts'
import { newLogger } from '../../../telemetry/logger.ts'
import { publish, publishTest } from '../engine/publish/publish.ts'
import { newCursors } from './cursor.ts'

const server = useTestServer()
useDeliveryWorker(server)
const newReceiver = useReceivers()
const quiet = newLogger('silent')

let line: Line
beforeAll(async () => {
  line = await newLine(server)
})

/** Reads when every committed event can be read. */
const pageOf = async (workspace: TestWorkspace, query = ''): Promise<EventPage> => {
  await untilReadable(server.db)
  const { status, body } = await workspace.call(`/v1/events${query}`)
  expect({ status, body }).toMatchObject({ status: 200 })
  return body as EventPage
}

const expectError = ({ status, body }: ApiResponse, expectedStatus: number, code: string) =>
  expect({ status, body }).toMatchObject({ status: expectedStatus, body: { error: { code } } })

const after = (cursor: string, more = '') => `?after=${cursor}${more}`
const latestOf = async (workspace: TestWorkspace) => (await pageOf(workspace, after('latest'))).next_cursor
const idsOf = ({ data }: EventPage) => data.map(({ id }) => id)

/** Inserts events with this type and body, without a webhook of the network. */
const insert = (
  { db, clock }: Pick<TestServer, 'db' | 'clock'>,
  workspaceId: string,
  count: number,
  { type = 'message.sent', size = 0 } = {},
) =>
  db.change(
    `insert into events (id, workspace_id, type, body, created_at)
     select gen_random_uuid(), $1, $2, convert_to('{"filler":"' || repeat('x', $3) || '"}', 'UTF8'), $4
     from generate_series(1, $5::int)`,
    [workspaceId, type, size, clock.now(), count],
  )

/** Reads pages from a cursor until there are no more, when every committed event can be read. */
async function readAll(...from: Parameters<typeof readNow>) {
  await untilReadable(server.db)
  return readNow(...from)
}

/** Reads what can be read, without checking it against the OpenAPI document. */
async function readNow(url: string, secret: string, first: string | null, more = '') {
  const pages: { data: { id?: string }[]; has_more: boolean; next_cursor: string }[] = []
  for (let cursor = first; ; ) {
    const query = cursor === null ? `?${more.slice(1)}` : after(cursor, more)
    const response = await fetch(`${url}/v1/events${query}`, { headers: { authorization: `Bearer ${secret}` } })
    expect(response.status).toBe(200)
    const page = (await response.json()) as (typeof pages)[number]
    pages.push(page)
    if (!page.has_more) return { pages, events: pages.flatMap(({ data }) => data), cursor: page.next_cursor }
    cursor = page.next_cursor
  }
}

test('GET /v1/events returns each event byte for byte as a webhook delivers it', async () => {
  const own = await newLine(server)
  const receiver = await newReceiver()
  await own.listen(receiver)
  await own.write(3)
  await own.write(1)
  await until('all are delivered', () => receiver.received.length === 4)
  const response = await fetch(`${server.url}/v1/events`, {
    headers: { authorization: `Bearer ${own.workspace.secret}` },
  })
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  const text = await response.text()
  const { data, next_cursor } = JSON.parse(text) as EventPage
  const delivered = new Map(receiver.received.map(({ id, body }) => [id, body]))
  const bodies = data.map(({ id }) => delivered.get(id))
  expect(text).toBe(`{"object":"list","data":[${bodies.join(',')}],"has_more":false,"next_cursor":"${next_cursor}"}`)
})

test('it needs no webhook; pages follow each other, and nothing is repeated or skipped', async () => {
  const { workspace, write } = await newLine(server)
  expect(await pageOf(workspace)).toEqual({
    object: 'list',
    data: [],
    has_more: false,
    next_cursor: expect.any(String),
  })
  await write(5)
  const all = idsOf(await pageOf(workspace))
  expect(all).toHaveLength(5)
  const first = await pageOf(workspace, '?limit=2')
  expect(first.has_more).toBe(true)
  const second = await pageOf(workspace, after(first.next_cursor, '&limit=2'))
  const third = await pageOf(workspace, after(second.next_cursor, '&limit=2'))
  expect([first, second, third].flatMap(idsOf)).toEqual(all)
  expect(third.has_more).toBe(false)
  const empty = await pageOf(workspace, after(third.next_cursor))
  expect(empty).toMatchObject({ data: [], has_more: false })
  await write(1)
  const next = await pageOf(workspace, after(empty.next_cursor))
  expect(next.data).toHaveLength(1)
  // The same cursor gives the same page again.
  expect(await pageOf(workspace, after(first.next_cursor, '&limit=2'))).toMatchObject({ data: second.data })
})

test('every reader and every reading sees the events in one order, whatever the order in which transactions commit', async () => {
  const { workspace, write } = await newLine(server)
  const publishing = () =>
    openTransaction(server.db, (tx) =>
      publish(tx, server.clock.now(), [{ workspaceId: workspace.id, type: 'message.sent', data: {} }]),
    )
  const [first, second] = [await publishing(), await publishing()]
  /** Reads page by page while the transactions end. */
  const followed: string[] = []
  let cursor: string | null = null
  const follow = async () => {
    const read = await readNow(server.url, workspace.secret, cursor, '&limit=2')
    followed.push(...read.events.map(({ id }) => id as string))
    cursor = read.cursor
  }
  await write(2)
  await follow()
  await second.commit()
  await follow()
  await write(1)
  await follow()
  await first.commit()
  await write(1)
  await untilReadable(server.db)
  await follow()
  expect(followed).toHaveLength(6)
  const again = await readAll(server.url, workspace.secret, null, '&limit=4')
  expect(again.events.map(({ id }) => id)).toEqual(followed)
  await follow()
  expect(followed).toHaveLength(6)
})

test('a cursor that this service did not write is 400', async () => {
  const { workspace, write } = await newLine(server)
  await write(1)
  const cursor = await latestOf(workspace)
  const bytes = Buffer.from(cursor, 'base64url')
  /** A cursor whose checksum anyone can compute, with a number of more than 64 bits. */
  const content = Buffer.from([1, ...Array(16).fill(0), 0, 1, ...Array(10).fill(255), 127])
  const check = createHash('sha256').update(workspace.id).update(content).digest().subarray(0, 6)
  const forged = [
    Buffer.concat([content, check]),
    // Each byte counts, and so does the length.
    ...Array.from(bytes, (byte, at) => bytes.with(at, byte ^ 1)),
    bytes.subarray(0, -1),
    Buffer.concat([bytes, Buffer.alloc(1)]),
    Buffer.alloc(bytes.length, 255),
  ]
  const { secret } = await workspace.newKey()
  for (const each of forged) {
    const response = await server.call(`/v1/events${after(Buffer.from(each).toString('base64url'))}`, { key: secret })
    expectError(response, 400, 'validation_failed')
    expect(response.body).toMatchObject({ error: { param: 'after', message: expect.stringContaining('latest') } })
  }
  expect((await workspace.call(`/v1/events${after(cursor)}`)).status).toBe(200)
})

test('a cursor holds while the key that signed it is in PARLEY_SECRET_KEYS', async () => {
  const { workspace, write } = await newLine(server)
  const cursor = await latestOf(workspace)
  await write(1)
  await untilReadable(server.db)
  const read = async (keys: TestServer['secretKeys'], query: string) => {
    const other = await serveApi({ ...server, secretKeys: keys }, quiet)
    onTestFinished(other.close)
    return callApi(`${other.url}/v1/events${query}`, { key: workspace.secret })
  }
  const next = [['next', randomBytes(32)]] as const
  const { status, body } = await read(new Map([...next, ...server.secretKeys]), after(cursor))
  expect({ status, body }).toMatchObject({ status: 200, body: { data: [{}] } })
  // The new cursor is signed with the first key.
  const { next_cursor } = body as EventPage
  expect((await read(new Map(next), after(next_cursor))).status).toBe(200)
  expectError(await read(new Map(next), after(cursor)), 400, 'validation_failed')
  expectError(await workspace.call(`/v1/events${after(next_cursor)}`), 400, 'validation_failed')
})

test('latest begins now, and counts no event twice', async () => {
  const { workspace, write } = await newLine(server)
  await write(3)
  const cursor = await latestOf(workspace)
  expect((await pageOf(workspace, after(cursor))).data).toEqual([])
  await write(2)
  expect((await pageOf(workspace, after(cursor))).data).toHaveLength(2)
})

test('type selects events, may be repeated, and never returns test events', async () => {
  const { workspace, write } = await newLine(server)
  await write(2)
  await publishTest(server.db, server.clock.now(), {
    workspaceId: workspace.id,
    webhookId: newUuid(),
    type: 'webhook.test',
    data: { test: true },
  })
  expect((await pageOf(workspace)).data).toHaveLength(2)
  expect((await pageOf(workspace, '?type=message.received')).data).toHaveLength(2)
  expect((await pageOf(workspace, '?type=message.sent&type=message.received')).data).toHaveLength(2)
  expect(await pageOf(workspace, '?type=message.sent')).toMatchObject({ data: [], has_more: false })
})

test('a filter that matches nothing ends, and a request looks at a limited number of events', async () => {
  const workspace = await newWorkspace(server)
  await insert(server, workspace.id, 50_100)
  const { pages, events } = await readAll(server.url, workspace.secret, null, '&type=flow.completed')
  expect(events).toEqual([])
  expect(pages.map(({ has_more }) => has_more)).toEqual([true, false])
})

test('events that are only returned if asked for do not make a page empty', async () => {
  const workspace = await newWorkspace(server)
  await insert(server, workspace.id, 1_500, { type: 'network.update' })
  await insert(server, workspace.id, 2)
  const { pages } = await readAll(server.url, workspace.secret, null, '&limit=1')
  expect(pages.map(({ data }) => data.length)).toEqual([1, 1])
})

test('a page has a limited number of bytes, and at least one event', async () => {
  const workspace = await newWorkspace(server)
  await insert(server, workspace.id, 3, { size: 1_500_000 })
  await insert(server, workspace.id, 1, { size: 6_000_000 })
  const { pages, events } = await readAll(server.url, workspace.secret, null, '&limit=1000')
  expect(events).toHaveLength(4)
  expect(pages.map(({ data }) => data.length)).toEqual([2, 1, 1])
})

test('invalid requests are refused, and so are the cursors of another workspace', async () => {
  const { workspace } = line
  const other = await newWorkspace(server)
  const foreign = await latestOf(other)
  const cases: [string, string][] = [
    ['?type=message.lost', 'type'],
    ['?type=message.sent&type=webhook.test', 'type'],
    ['?limit=0', 'limit'],
    ['?limit=1001', 'limit'],
    ['?wait=26', 'wait'],
    ['?wait=-1', 'wait'],
    ['?cursor=abc', 'cursor'],
    ['?after=abc', 'after'],
    ['?after=', 'after'],
    [after(foreign), 'after'],
    [after(`${foreign.slice(0, -1)}_`), 'after'],
  ]
  for (const [query, param] of cases) {
    const response = await workspace.call(`/v1/events${query}`)
    expectError(response, 400, 'validation_failed')
    expect((response.body as { error: { param: string } }).error.param, query).toBe(param)
  }
  const { secret } = await workspace.newKey({ scopes: ['messages:read'] })
  expectError(await server.call('/v1/events', { key: secret }), 403, 'insufficient_scope')
  expectError(await server.call('/v1/events'), 401, 'invalid_key')
  // A cursor holds for every key of the workspace.
  const { secret: another } = await workspace.newKey({ scopes: ['events:read'] })
  const cursor = await latestOf(workspace)
  expect((await server.call(`/v1/events${after(cursor)}`, { key: another })).status).toBe(200)
})

test('an event of another workspace is never returned', async () => {
  const [one, other] = [await newLine(server), await newLine(server)]
  await one.write(2)
  await other.write(3)
  const ids = idsOf(await pageOf(one.workspace))
  expect(ids).toHaveLength(2)
  for (const id of idsOf(await pageOf(other.workspace))) expect(ids).not.toContain(id)
})

test('a cursor that is older than what is stored is 410, with the cursor of the oldest event', async () => {
  const own = await startTestServer()
  onTestFinished(own.close)
  const { workspace, write } = await newLine(own.server)
  await write(1)
  const cursor = await latestOf(workspace)
  await own.server.passDays(35)
  await write(2)
  // Until the events that follow it are deleted, the cursor holds.
  expect((await pageOf(workspace, after(cursor))).data).toHaveLength(2)
  const { db, clock } = own.server
  await dropOldPartitions(db, clock, quiet, 30)
  await dropOldPartitions(db, clock, quiet, 30)
  const response = await workspace.call(`/v1/events${after(cursor)}`)
  expectError(response, 410, 'cursor_expired')
  const { oldest_cursor } = (response.body as { error: { details: { oldest_cursor: string } } }).error.details
  const page = await pageOf(workspace, after(oldest_cursor))
  expect(page.data).toHaveLength(2)
  expect((await pageOf(workspace, after(page.next_cursor))).data).toEqual([])
})

test('after a restore of the files of the server, a cursor from the lost time is 410, and an older one holds', async () => {
  const { workspace, write } = await newLine(server)
  await write(1)
  const { next_cursor: cursor } = await pageOf(workspace)
  await write(1)
  const cursors = newCursors(server.secretKeys)
  const read = cursors.read(workspace.id, cursor)
  const lost = cursors.write(workspace.id, { ...read, position: read.position + 100_000n })
  const response = await workspace.call(`/v1/events${after(lost)}`)
  expectError(response, 410, 'cursor_expired')
  const { oldest_cursor } = (response.body as { error: { details: { oldest_cursor: string } } }).error.details
  expect((await pageOf(workspace, after(oldest_cursor))).data).toHaveLength(2)
  expect((await pageOf(workspace, after(cursor))).data).toHaveLength(1)
})

test('after a dump was restored into another cluster, cursors hold, and every event is read once', async () => {
  const own = await startTestServer()
  onTestFinished(own.close)
  const { db, url } = own.server
  const { workspace, write } = await newLine(own.server)
  await write(3)
  const { cursor } = await readAll(url, workspace.secret, null, '&limit=2')
  const { pages } = await readAll(url, workspace.secret, null, '&limit=2')
  // Restored rows have the positions of the cluster they come from, here higher than any of this one. They were written by the
  // transaction that restored them.
  const far = '(1::bigint << 40)'
  await db.change(`update events set position = position + ${far}`)
  await db.change(`update event_epoch set transaction_id = (transaction_id::text::bigint + ${far})::text::xid8`)
  const moved = (text: string) => {
    const cursors = newCursors(own.server.secretKeys)
    const read = cursors.read(workspace.id, text)
    return cursors.write(workspace.id, { ...read, position: read.position + 2n ** 40n })
  }
  const read = async (from: string | null) => (await readAll(url, workspace.secret, from, '&limit=2')).events
  const stored = await read(null)
  expect(stored).toHaveLength(3)
  await write(2)
  const all = await read(null)
  expect(all.slice(0, 3)).toEqual(stored)
  expect(new Set(all.map(({ id }) => id)).size).toBe(5)
  expect(await read(moved(pages[0]?.next_cursor ?? ''))).toEqual(all.slice(2))
  expect(await read(moved(cursor))).toEqual(all.slice(3))
  expect(await read(await latestOf(workspace))).toEqual([])
})

test('many that publish first on a new server begin one epoch', async () => {
  const own = await startTestServer()
  onTestFinished(own.close)
  const { db, url } = own.server
  const { workspace, write } = await newLine(own.server)
  await write(1)
  const { cursor } = await readAll(url, workspace.secret, null)
  await db.change(`update event_epoch set timeline = '', transaction_id = pg_current_xact_id()`)
  await Promise.all(Array.from({ length: 8 }, () => write(1)))
  const epochs = await db.rows('select distinct position >> 43 from events')
  expect(epochs).toHaveLength(2)
  expect((await readAll(url, workspace.secret, cursor)).events).toHaveLength(8)
})

test('two writers and a reader that races them: the reader gets every event once', async () => {
  const { workspace, write } = await newLine(server)
  const seen: string[] = []
  /** Each key may make 100 requests a minute. */
  let requests = 0
  let secret = workspace.secret
  async function nextKey(): Promise<string> {
    if (++requests % 4 === 0) secret = (await workspace.newKey()).secret
    return secret
  }
  let isWriting = true
  const reading = (async () => {
    let cursor: string | null = null
    for (let isLast = false; ; ) {
      isLast = !isWriting
      const read: Awaited<ReturnType<typeof readNow>> = await (isLast ? readAll : readNow)(
        server.url,
        await nextKey(),
        cursor,
        '&limit=7',
      )
      seen.push(...read.events.map(({ id }) => id as string))
      cursor = read.cursor
      if (isLast) return
      await sleep(50)
    }
  })()
  await Promise.all(
    [1, 2].map(async () => {
      for (let n = 0; n < 20; n++) await write(3)
    }),
  )
  isWriting = false
  await reading
  const stored = await server.db.rows<{ id: string }>('select id from events where workspace_id = $1', [workspace.id])
  expect(seen.toSorted()).toEqual(stored.map(({ id }) => id).toSorted())
  const again = await readAll(server.url, await nextKey(), null, '&limit=50')
  expect(again.events.map(({ id }) => id)).toEqual(seen)
})
