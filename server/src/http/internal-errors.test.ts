import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { asAdmin } from '../../testing/database.ts'
import { echoRoutes } from '../../testing/echo.ts'
import { expectRefusal } from '../../testing/expect-error.ts'
import { loggedRequest } from '../../testing/log.ts'
import { useTestServer } from '../../testing/test-server.ts'
import { newWorkspace } from '../../testing/workspace.ts'

const server = useTestServer({ moreRoutes: echoRoutes })

test('an internal error reveals no details, and is logged with the request ID', async () => {
  const workspace = await newWorkspace(server)
  const response = await workspace.call('/v1/broken')
  expectRefusal(response, { code: 'internal_error', message: 'Something went wrong on our side.' })
  const requestId = response.headers.get('x-request-id') as string
  const lines = server.logged.filter((line) => line.includes(requestId))
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('select secret_sealed')
  expect(await loggedRequest(server, response)).toMatchObject({
    status: 500,
    code: 'internal_error',
    route: '/v1/broken',
  })
})

test('while its disk is full, requests that write get 503, /readyz too, one line is logged, and both recover by themselves', async () => {
  const workspace = await newWorkspace(server)
  const readiness = async () => (await fetch(`${server.url}/readyz`)).status
  const send = () => workspace.call('/v1/messages', { method: 'POST', body: {} })
  expect([(await send()).status, await readiness()]).toEqual([400, 200])
  const admin = new pg.Client({ ...server.connection, user: 'postgres' })
  await admin.connect()
  onTestFinished(() => admin.end())
  // As PostgreSQL fails when it needs another page.
  await admin.query(`
    create function full_disk() returns trigger language plpgsql as
      $$begin raise 'could not extend file "base/1/2": No space left on device' using errcode = '53100'; end$$;
    create function full_disk_ddl() returns event_trigger language plpgsql as
      $$begin raise 'could not extend file "base/1/2": No space left on device' using errcode = '53100'; end$$;
    create trigger full_disk before insert or update on budget_windows execute function full_disk();
    create event trigger full_disk on ddl_command_start execute function full_disk_ddl()`)
  server.logged.length = 0
  for (const response of await Promise.all([send(), send(), send()])) {
    expectRefusal(response, { code: 'service_unavailable', headers: { 'retry-after': '1' } })
  }
  expect(await readiness()).toBe(503)
  expect(await (await fetch(`${server.url}/readyz`)).text()).toContain('disk')
  expect(server.logged.filter((line) => line.includes('No space left'))).toEqual([
    expect.stringContaining('database.cannot_write'),
  ])
  await admin.query('drop event trigger full_disk; drop trigger full_disk on budget_windows')
  expect([(await send()).status, await readiness()]).toEqual([400, 200])
})

test('while the database is unavailable every request gets 503; afterwards the service recovers and the requests are in the log', async () => {
  const workspace = await newWorkspace(server)
  expect((await workspace.call('/v1/me')).status).toBe(200)
  const { database } = server.connection
  await asAdmin(`alter database ${database} connection limit 0`)
  await asAdmin(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`)
  const refused = []
  for (const call of [workspace.call('/v1/webhook'), server.call('/v1/openapi.json'), server.call('/v1/me')]) {
    const response = await call
    expectRefusal(response, { code: 'service_unavailable', headers: { 'retry-after': '1' } })
    expect(JSON.stringify(response.body)).not.toMatch(/database|connection|postgres/i)
    refused.push(response)
  }
  await asAdmin(`alter database ${database} connection limit -1`)
  await vi.waitFor(async () => expect((await workspace.call('/v1/me')).status).toBe(200), 60_000)
  for (const response of refused) {
    expect(await loggedRequest(server, response)).toMatchObject({ status: 503, code: 'service_unavailable' })
  }
})
