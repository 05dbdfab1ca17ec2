import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { copyDataDir, newFolder, postmasterPid, removeFolder } from '../../server/testing/data-dir.ts'
import { newDatabase } from '../../server/testing/database.ts'
import { isGone, parley, spawnParley, startParley } from '../../server/testing/parley.ts'
import { urlOf } from '../../server/testing/service.ts'
import { tempFolder } from '../../server/testing/temp-folder.ts'
import { until } from '../../server/testing/until.ts'

/** A data directory that has been started once and stopped, and the key that the first start showed. */
let made: string
let secret: string

beforeAll(async () => {
  made = newFolder()
  const { out } = await startAndStop(made)
  secret = /^ {2}(prl_\S+)$/m.exec(out)?.[1] as string
  expect(secret).toBeTruthy()
})

afterAll(() => removeFolder(made))

const newDataDir = () => copyDataDir(made, join(tempFolder(), 'data'))

async function startAndStop(dataDir: string) {
  const service = await startParley({ PARLEY_DATA_DIR: dataDir })
  service.child.kill('SIGTERM')
  return service.ended
}

const statusOf = async (url: string, headers: Record<string, string> = {}) => (await fetch(url, { headers })).status

const withKey = () => ({ authorization: `Bearer ${secret}` })

test('a second start reuses everything and prints no secret', async () => {
  const dataDir = newDataDir()
  const service = await startParley({ PARLEY_DATA_DIR: dataDir })
  expect(await statusOf(`${service.url}/readyz`)).toBe(200)
  expect(await statusOf(`${service.url}/v1/me`, withKey())).toBe(200)
  const pid = postmasterPid(dataDir)
  service.child.kill('SIGTERM')
  const { code, out } = await service.ended
  expect(code).toBe(0)
  expect(out).not.toContain('prl_')
  expect(out).toMatch(/Stopped\.\n$/)
  expect(isGone(pid)).toBe(true)
})

test('ten commands at once while nothing runs all succeed, and the last stops PostgreSQL', async () => {
  const dataDir = newDataDir()
  const env = { PARLEY_DATA_DIR: dataDir }
  const names = Array.from({ length: 10 }, (_, index) => `Team ${index}`)
  const all = await Promise.all(names.map((name) => parley(['workspace', 'create', '--name', name, '--json'], env)))
  for (const { code, err } of all) expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(all.map(({ out }) => (JSON.parse(out) as { name: string }).name)).toEqual(names)
  expect(postmasterPid(dataDir)).toBeUndefined()
})

test('credits are given and taken back with a note, and prices are set', async () => {
  const env = { PARLEY_DATA_DIR: newDataDir() }
  const asked = async (...words: string[]) => JSON.parse((await parley([...words, '--json'], env)).out)
  const [{ id }] = (await asked('workspace', 'list')).data
  expect(await asked('workspace', 'credit', id, '500', '--note', 'invoice 7')).toEqual({
    workspace_id: id,
    amount: 500,
    balance: 1500,
  })
  const back = await parley(['workspace', 'credit', '--note', 'mistake', '--', id, '-200'], env)
  expect(back).toMatchObject({ code: 0, out: `Workspace ${id} has 1300 credits.\n` })
  expect(await parley(['workspace', 'credit', id, 'many', '--note', 'x'], env)).toMatchObject({ code: 1, out: '' })
  expect(await asked('price', 'set', 'template.MARKETING', '3')).toEqual({ item: 'template.MARKETING', credits: 3 })
  expect((await asked('price', 'list')).data).toContainEqual({ item: 'template.MARKETING', credits: 3 })
})

test('commands work while the service starts, runs and stops', async () => {
  const dataDir = newDataDir()
  const env = { PARLEY_DATA_DIR: dataDir }
  const list = () => parley(['workspace', 'list', '--json'], env)
  const starting = startParley(env)
  const early = await Promise.all([list(), list()])
  const service = await starting
  const late = [list(), list()]
  service.child.kill('SIGTERM')
  const ended = await Promise.all([...late, list()])
  expect((await service.ended).code).toBe(0)
  for (const { code, out, err } of [...early, ...ended]) {
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(JSON.parse(out)).toMatchObject({ object: 'list', total: 1 })
  }
  expect(postmasterPid(dataDir)).toBeUndefined()
})

test('a second start on one data directory says so in one line, and leaves the first alone', async () => {
  const dataDir = newDataDir()
  const first = await startParley({ PARLEY_DATA_DIR: dataDir })
  const second = await parley(['start'], { PARLEY_DATA_DIR: dataDir, PORT: '0' })
  expect(second.code).toBe(1)
  expect(second.err).toMatch(/^Parley is already running with the data directory .*\n$/)
  expect(await statusOf(`${first.url}/v1/me`, withKey())).toBe(200)
  first.child.kill('SIGTERM')
  await first.ended
})

test('a port in use is told in one line, and PostgreSQL is stopped again', async () => {
  const dataDir = newDataDir()
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void other.close())
  const { port } = other.address() as AddressInfo
  const { code, err } = await parley(['start'], { PARLEY_DATA_DIR: dataDir, PORT: String(port) })
  expect({ code, err }).toEqual({
    code: 1,
    err: `Port ${port} on 127.0.0.1 is already in use. Stop the program that uses it, or set PORT to another port.\n`,
  })
  expect(postmasterPid(dataDir)).toBeUndefined()
})

test('killed outright while starting or running, it starts again each time and has lost nothing', async () => {
  const dataDir = newDataDir()
  for (const momentMs of [0, 80, 160, 400]) {
    const service = spawnParley(['start'], { PARLEY_DATA_DIR: dataDir, PORT: '0' })
    await until('it has begun', () => service.out().includes('Parley'))
    // A different moment each round; whichever it is, the promise is the same.
    await new Promise((resolve) => setTimeout(resolve, momentMs))
    service.child.kill('SIGKILL')
    await service.ended
  }
  const service = await startParley({ PARLEY_DATA_DIR: dataDir })
  expect(await statusOf(`${service.url}/v1/me`, withKey())).toBe(200)
  const pid = postmasterPid(dataDir)
  service.child.kill('SIGTERM')
  expect((await service.ended).code).toBe(0)
  expect(isGone(pid)).toBe(true)
})

test('told to stop while starting, it exits 0 and leaves no PostgreSQL', async () => {
  const dataDir = newDataDir()
  const service = spawnParley(['start'], { PARLEY_DATA_DIR: dataDir, PORT: '0' })
  const pid = await until('PostgreSQL is starting', () => postmasterPid(dataDir))
  service.child.kill('SIGTERM')
  expect((await service.ended).code).toBe(0)
  expect(isGone(pid)).toBe(true)
})

test('a command that is told to stop leaves no PostgreSQL', async () => {
  const dataDir = newDataDir()
  const command = spawnParley(['workspace', 'list'], { PARLEY_DATA_DIR: dataDir })
  const pid = await until('PostgreSQL is starting', () => postmasterPid(dataDir))
  command.child.kill('SIGINT')
  await command.ended
  expect(isGone(pid)).toBe(true)
})

test('PostgreSQL killed under the service: 503 in the one shape for a moment, then as before', async () => {
  const dataDir = newDataDir()
  const service = await startParley({ PARLEY_DATA_DIR: dataDir, LOG_LEVEL: 'silent' })
  const ask = async () => {
    const response = await fetch(`${service.url}/v1/me`, { headers: withKey() })
    return {
      status: response.status,
      body: (await response.json()) as { error?: { code: string; request_id: string } },
    }
  }
  expect((await ask()).status).toBe(200)
  process.kill(postmasterPid(dataDir) as number, 'SIGKILL')
  const meanwhile: Awaited<ReturnType<typeof ask>>[] = []
  await until('it answers as before', async () => {
    const response = await ask()
    if (response.status === 200 && meanwhile.length > 0) return true
    if (response.status !== 200) meanwhile.push(response)
    return undefined
  })
  for (const { status, body } of meanwhile) {
    expect({ status, code: body.error?.code }).toEqual({ status: 503, code: 'service_unavailable' })
    expect(body.error?.request_id).toMatch(/^req_/)
  }
  expect(await statusOf(`${service.url}/readyz`)).toBe(200)
  service.child.kill('SIGTERM')
  expect((await service.ended).code).toBe(0)
  expect(postmasterPid(dataDir)).toBeUndefined()
})

test('told to stop, it finishes the requests under way and its request log is complete', async () => {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  const env = { DATABASE_URL: urlOf(connection), PARLEY_SECRET_KEYS: `k1:${Buffer.alloc(32).toString('base64')}` }
  const made = JSON.parse((await parley(['workspace', 'create', '--name', 'A', '--json'], env)).out)
  const words = ['key', 'create', '--workspace', made.id, '--name', 'k', '--scope', 'webhooks:read', '--json']
  const headers = { authorization: `Bearer ${JSON.parse((await parley(words, env)).out).secret}` }
  const service = await startParley(env)
  const done = await Promise.all(Array.from({ length: 20 }, () => statusOf(`${service.url}/v1/me`)))
  expect(new Set(done)).toEqual(new Set([401]))

  const client = new pg.Client(connection)
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin; lock table api_keys, workspaces, key_usage')
  const underWay = statusOf(`${service.url}/v1/me`, headers)
  const waiting = 'select 1 from pg_locks join pg_database d on d.oid = database where not granted and datname = $1'
  await until('a request waits', async () => (await client.query(waiting, [connection.database])).rowCount !== 0)
  service.child.kill('SIGTERM')
  await until('it is stopping', () => service.out().includes('Stopping'))
  await client.query('commit')
  expect(await underWay).toBe(200)
  expect((await service.ended).code).toBe(0)
  await client.query("set parley.workspace = 'all'")
  const { rows } = await client.query('select count(*)::int as count from request_log')
  expect(rows).toEqual([{ count: 21 }])
})

test('an address that is not this machine’s is told in one line', async () => {
  const dataDir = newDataDir()
  const { code, err } = await parley(['start'], { PARLEY_DATA_DIR: dataDir, HOST: '203.0.113.1', PORT: '0' })
  expect({ code, err }).toEqual({
    code: 1,
    err: 'Cannot listen on HOST "203.0.113.1": it is not an address of this machine. Use 127.0.0.1 for this machine only, or 0.0.0.0 for all interfaces.\n',
  })
  expect(postmasterPid(dataDir)).toBeUndefined()
})

test('with PORT=0 links name the port that was found', async () => {
  const service = await startParley({ PARLEY_DATA_DIR: newDataDir() })
  const { error } = (await (await fetch(`${service.url}/v1/me`)).json()) as { error: { doc_url: string } }
  expect(error.doc_url).toBe(`${service.url}/docs/errors#invalid_key`)
  const { servers } = (await (await fetch(`${service.url}/v1/openapi.json`)).json()) as { servers: unknown }
  expect(servers).toEqual([{ url: service.url }])
  service.child.kill('SIGTERM')
  await service.ended
})

test('start --json prints where it listens and nothing else', async () => {
  const service = spawnParley(['start', '--json'], { PARLEY_DATA_DIR: newDataDir(), PORT: '0' })
  const { url } = await until('it is ready', () =>
    service.out().endsWith('\n') ? JSON.parse(service.out()) : undefined,
  )
  expect(await statusOf(`${url}/readyz`)).toBe(200)
  service.child.kill('SIGINT')
  const { code, out } = await service.ended
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ url })
})
