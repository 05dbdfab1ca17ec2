import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Connection } from '@parley/server/db/db'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { copyDataDir, newFolder, postmasterPid, removeFolder } from '../../server/testing/data-dir.ts'
import { newDatabase } from '../../server/testing/database.ts'
import { isGone, parley, spawnParley, startParley } from '../../server/testing/parley.ts'
import { urlOf } from '../../server/testing/service.ts'
import { tempFolder } from '../../server/testing/temp-folder.ts'
import { until } from '../../server/testing/until.ts'
import { runParley, serveParley, startCommand } from '../testing/run-parley.ts'

/** A data directory after its first start and stop, and the API key which that start printed. */
let startedDir: string
let secret: string
let firstStart: { out: string; err: string }

beforeAll(async () => {
  startedDir = newFolder()
  firstStart = await startAndStop(startedDir)
  secret = /^ {2}(prl_\S+)$/m.exec(firstStart.out)?.[1] as string
  expect(secret).toBeTruthy()
})

afterAll(() => removeFolder(startedDir))

const newDataDir = () => copyDataDir(startedDir, join(tempFolder(), 'data'))

async function startAndStop(dataDir: string) {
  const service = await startParley({ PARLEY_DATA_DIR: dataDir })
  service.child.kill('SIGTERM')
  return service.ended
}

const statusOf = async (url: string, headers: Record<string, string> = {}) => (await fetch(url, { headers })).status

const settingsFor = (connection: Connection) => ({
  DATABASE_URL: urlOf(connection),
  PARLEY_SECRET_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
})

const withKey = () => ({ authorization: `Bearer ${secret}` })

test('a first start prints how to begin, and nothing else', async () => {
  expect(firstStart.err).toBe('')
  const lines = firstStart.out
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, '<url>')
    .replaceAll(/prl_live_\w+/g, '<key>')
    .replaceAll(/link#\S+/g, 'link#<token>')
    .split('\n')
    .filter((line) => line !== '')
  expect(lines).toEqual([
    expect.stringMatching(/^Parley \d+\.\d+\.\d+$/),
    'Setting up the embedded PostgreSQL (first start only)…',
    'Ready at <url>',
    '  Console        <url>/',
    '  API reference  <url>/docs/api',
    'Create your console account (this link works once):',
    '  <url>/link#<token>',
    'API key of the demo workspace (shown only once):',
    '  <key>',
    'Try it:',
    '  curl -H "Authorization: Bearer <key>" <url>/v1/me',
    'Press Ctrl+C to stop.',
    'Stopping…',
    'Stopped.',
  ])
})

test('commands work while a later start is starting, running and stopping; it prints no secret', async () => {
  const dataDir = newDataDir()
  const env = { PARLEY_DATA_DIR: dataDir }
  const list = () => runParley(['workspace', 'list', '--json'], env)
  const starting = startParley(env)
  const early = await Promise.all([list(), list()])
  const service = await starting
  expect(await statusOf(`${service.url}/readyz`)).toBe(200)
  expect(await statusOf(`${service.url}/v1/me`, withKey())).toBe(200)
  const pid = postmasterPid(dataDir)
  const late = [list(), list()]
  service.child.kill('SIGTERM')
  const ended = await Promise.all([...late, list()])
  const { code, out } = await service.ended
  expect(code).toBe(0)
  expect(out).not.toContain('prl_')
  expect(out).toMatch(/Stopped\.\n$/)
  for (const each of [...early, ...ended]) {
    expect(each).toMatchObject({ code: 0, err: '' })
    expect(JSON.parse(each.out)).toMatchObject({ object: 'list', total: 1 })
  }
  expect(isGone(pid)).toBe(true)
  expect(postmasterPid(dataDir)).toBeUndefined()
})

test('ten concurrent commands succeed while the service is down, and the last one stops PostgreSQL', async () => {
  const dataDir = newDataDir()
  const env = { PARLEY_DATA_DIR: dataDir }
  const names = Array.from({ length: 10 }, (_, index) => `Team ${index}`)
  // Two in processes of their own.
  const all = await Promise.all(
    names.map((name, index) =>
      (index < 2 ? parley : runParley)(['workspace', 'create', '--name', name, '--json'], env),
    ),
  )
  for (const { code, err } of all) expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(all.map(({ out }) => (JSON.parse(out) as { name: string }).name)).toEqual(names)
  expect(postmasterPid(dataDir)).toBeUndefined()
})

test('start fails with one line if its address cannot be used, and stops PostgreSQL', async () => {
  const dataDir = newDataDir()
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void other.close())
  const { port } = other.address() as AddressInfo
  const start = (env: Record<string, string>) =>
    runParley(['start'], { PARLEY_DATA_DIR: dataDir, PARLEY_SIMULATOR_PORT: '0', ...env })
  expect(await start({ PORT: String(port) })).toMatchObject({
    code: 1,
    err: `Port ${port} on 127.0.0.1 is already in use. Stop the program that uses it, or set PORT to another port.\n`,
  })
  expect(postmasterPid(dataDir)).toBeUndefined()
  expect(await start({ HOST: '203.0.113.1', PORT: '0' })).toMatchObject({
    code: 1,
    err: 'Cannot listen on HOST "203.0.113.1": it is not an address of this machine. Use 127.0.0.1 for this machine only, or 0.0.0.0 for all interfaces.\n',
  })
  expect(postmasterPid(dataDir)).toBeUndefined()
})

test('after SIGKILL while starting or running, the service starts again without data loss', async () => {
  const dataDir = newDataDir()
  for (const printed of ['Parley', 'Ready at']) {
    const service = spawnParley(['start'], { PARLEY_DATA_DIR: dataDir, PORT: '0' })
    await until('it has come so far', () => service.out().includes(printed))
    service.child.kill('SIGKILL')
    await service.ended
  }
  const service = await serveParley({ PARLEY_DATA_DIR: dataDir })
  expect(await statusOf(`${service.url}/v1/me`, withKey())).toBe(200)
  const pid = postmasterPid(dataDir)
  service.kill('SIGTERM')
  expect((await service.ended).code).toBe(0)
  expect(isGone(pid)).toBe(true)
})

test('a signal while the service is starting: it ends with 0 and leaves no PostgreSQL running', async () => {
  const dataDir = newDataDir()
  const env = { PARLEY_DATA_DIR: dataDir, PORT: '0', PARLEY_SIMULATOR_PORT: '0' }
  const service = startCommand(['start'], env)
  const pid = await until('PostgreSQL is starting', () => postmasterPid(dataDir))
  service.kill('SIGTERM')
  expect((await service.ended).code).toBe(0)
  expect(isGone(pid)).toBe(true)
})

test('SIGINT during a command leaves no PostgreSQL running', async () => {
  const dataDir = newDataDir()
  const command = spawnParley(['workspace', 'list'], { PARLEY_DATA_DIR: dataDir })
  const pid = await until('PostgreSQL is starting', () => postmasterPid(dataDir))
  command.child.kill('SIGINT')
  expect((await command.ended).code).toBe(130)
  expect(isGone(pid)).toBe(true)
})

test('if PostgreSQL is killed, requests get 503 service_unavailable until it is back', async () => {
  const dataDir = newDataDir()
  const service = await serveParley({ PARLEY_DATA_DIR: dataDir, LOG_LEVEL: 'silent' })
  const getMe = async () => {
    const response = await fetch(`${service.url}/v1/me`, { headers: withKey() })
    return {
      status: response.status,
      body: (await response.json()) as { error?: { code: string; request_id: string } },
    }
  }
  expect((await getMe()).status).toBe(200)
  process.kill(postmasterPid(dataDir) as number, 'SIGKILL')
  const failures: Awaited<ReturnType<typeof getMe>>[] = []
  await until('requests succeed again', async () => {
    const response = await getMe()
    if (response.status === 200 && failures.length > 0) return true
    if (response.status !== 200) failures.push(response)
    return undefined
  })
  for (const { status, body } of failures) {
    expect({ status, code: body.error?.code }).toEqual({ status: 503, code: 'service_unavailable' })
    expect(body.error?.request_id).toMatch(/^req_/)
  }
  expect(await statusOf(`${service.url}/readyz`)).toBe(200)
  service.kill('SIGTERM')
  expect((await service.ended).code).toBe(0)
  expect(postmasterPid(dataDir)).toBeUndefined()
})

test('SIGTERM: requests in flight are finished and the request log is complete', async () => {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  const env = settingsFor(connection)
  const workspace = JSON.parse((await runParley(['workspace', 'create', '--name', 'A', '--json'], env)).out)
  const words = ['key', 'create', '--workspace', workspace.id, '--name', 'k', '--scope', 'webhooks:read', '--json']
  const headers = { authorization: `Bearer ${JSON.parse((await runParley(words, env)).out).secret}` }
  const service = await serveParley(env)
  const done = await Promise.all(Array.from({ length: 20 }, () => statusOf(`${service.url}/v1/me`)))
  expect(new Set(done)).toEqual(new Set([401]))

  const client = new pg.Client(connection)
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin; lock table api_keys, workspaces, key_usage')
  const inFlight = statusOf(`${service.url}/v1/me`, headers)
  const waiting = 'select 1 from pg_locks join pg_database d on d.oid = database where not granted and datname = $1'
  await until(
    'a request waits for a lock',
    async () => (await client.query(waiting, [connection.database])).rowCount !== 0,
  )
  service.kill('SIGTERM')
  await until('the service is stopping', () => service.out().includes('Stopping'))
  await client.query('commit')
  expect(await inFlight).toBe(200)
  expect((await service.ended).code).toBe(0)
  await client.query("set parley.workspace = 'all'")
  // Of the requests without a key, the first are in the log and all are counted. If the key was used from this address
  // before they were looked at, they are in the log of its workspace instead.
  const { rows } = await client.query(
    `select (select count(*)::int from request_log where key_id is not null) as ours,
       (select coalesce(sum(count), 0)::int from unauthenticated_minutes)
         + (select count(*)::int from request_log where workspace_id is not null and key_id is null) as others`,
  )
  expect(rows).toEqual([{ ours: 1, others: 20 }])
})

test('a command that follows and is stopped while it starts PostgreSQL leaves none running', async () => {
  const dataDir = newDataDir()
  for (const words of [['events', '--follow'], ['listen']]) {
    const following = startCommand(words, { PARLEY_DATA_DIR: dataDir })
    const pid = await until('PostgreSQL starts', () => postmasterPid(dataDir))
    following.kill('SIGINT')
    expect((await following.ended).err).not.toMatch(/\n {4}at /)
    await until('PostgreSQL has ended', () => isGone(pid))
  }
})

test('start --json prints one JSON document with the URL and nothing else', async () => {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  const service = startCommand(['start', '--json'], { ...settingsFor(connection), PORT: '0' })
  const { url } = await until('the service is ready', () =>
    service.out().endsWith('\n') ? JSON.parse(service.out()) : undefined,
  )
  expect(await statusOf(`${url}/readyz`)).toBe(200)
  // With PORT=0, URLs contain the port that was assigned.
  const { error } = (await (await fetch(`${url}/v1/me`)).json()) as { error: { doc_url: string } }
  expect(error.doc_url).toBe(`${url}/docs/errors#invalid_key`)
  const { servers } = (await (await fetch(`${url}/v1/openapi.json`)).json()) as { servers: unknown }
  expect(servers).toEqual([{ url }])
  service.kill('SIGINT')
  const { code, out } = await service.ended
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ url })
})
