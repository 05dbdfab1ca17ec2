import { expect, onTestFinished, test } from 'vitest'
import { callApi } from '../../../testing/call.ts'
import { startDatabaseProxy } from '../../../testing/database-proxy.ts'
import { serveApi, useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { newLogger } from '../../telemetry/logger.ts'

const server = useTestServer()

/** An API process behind a proxy. */
async function behindProxy() {
  const proxy = await startDatabaseProxy(server.connection)
  const { url, close } = await serveApi({ ...server, connection: proxy.connection }, newLogger('silent'))
  let isClosed = false
  /** Writes what is still in memory. */
  const stop = async () => {
    if (!isClosed) await close()
    isClosed = true
  }
  onTestFinished(stop)
  return { proxy, stop, call: (path: string, key?: string) => callApi(url + path, { key }) }
}

const countOf = async (sql: string, values: unknown[] = []) =>
  (
    await server.db.first<{ count: number }>(
      `select coalesce(sum(count), 0)::int as count from (${sql}) as rows`,
      values,
    )
  )?.count

test('requests without a key are counted once if the connection is lost after their commit', async () => {
  const { proxy, call, stop } = await behindProxy()
  await server.api.flush()
  const before = (await countOf('select count from unauthenticated_minutes')) ?? 0
  const cut = proxy.cutAfterCommit(/insert into unauthenticated_minutes/)
  for (let n = 0; n < 3; n++) expect((await call('/v1/me')).status).toBe(401)
  await cut
  for (let n = 0; n < 2; n++) expect((await call('/v1/me')).status).toBe(401)
  await stop()
  expect(await countOf('select count from unauthenticated_minutes')).toBe(before + 5)
})

test('requests are counted once if the connection is lost after their commit', async () => {
  const workspace = await newWorkspace(server)
  const { proxy, call, stop } = await behindProxy()
  const cut = proxy.cutAfterCommit(/insert into traffic_hours/)
  for (let n = 0; n < 3; n++) expect((await call('/v1/me', workspace.secret)).status).toBe(200)
  await cut
  for (let n = 0; n < 2; n++) expect((await call('/v1/me', workspace.secret)).status).toBe(200)
  await stop()
  const counted = 'select count from traffic_hours where workspace_id = $1 and code is null'
  expect(await countOf(counted, [workspace.id])).toBe(5)
})

test.for([
  ['by COPY', /^copy request_log/, 200, '/v1/me'],
  ['with the counts of their errors', /insert into refusal_hours/, 404, '/v1/messages/msg_unknown'],
] as const)(
  'requests are logged once if the connection is lost after they were written %s',
  async ([_, statement, status, path]) => {
    const workspace = await newWorkspace(server)
    const { proxy, call, stop } = await behindProxy()
    const cut = proxy.cutAfterCommit(statement)
    for (let n = 0; n < 3; n++) expect((await call(path, workspace.secret)).status).toBe(status)
    await cut
    await until('the log is written', async () => (await logged()) === 3)
    await stop()
    expect(await logged()).toBe(3)
    const failed = 'select count from refusal_hours where workspace_id = $1'
    expect(await countOf(failed, [workspace.id])).toBe(status === 200 ? 0 : 3)

    function logged() {
      return countOf('select 1 as count from request_log where workspace_id = $1', [workspace.id])
    }
  },
)
