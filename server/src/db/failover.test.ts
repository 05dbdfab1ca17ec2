import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { copyDataDir, newFolder, removeFolder } from '../../testing/data-dir.ts'
import { startDatabaseProxy } from '../../testing/database-proxy.ts'
import { spawnService } from '../../testing/service.ts'
import { until } from '../../testing/until.ts'
import { type Embedded, openEmbedded } from './embedded/embedded.ts'

const settings = { fsync: 'off', full_page_writes: 'off', shared_buffers: '32MB' }

async function open(dataDir: string, more: Record<string, string> = {}): Promise<Embedded> {
  return openEmbedded({ dataDir, purpose: 'visitor', settings: { ...settings, ...more } })
}

/** A primary server and a standby that follows it. */
async function startCluster() {
  const folder = newFolder()
  onTestFinished(() => removeFolder(folder))
  const first = join(folder, 'first')
  await (await open(first)).close()
  const second = copyDataDir(first, join(folder, 'second'))
  writeFileSync(join(second, 'postgres', 'standby.signal'), '')
  const primary = await open(first)
  onTestFinished(() => primary.close())
  const { host, port, user, password } = primary.admin
  const follow = `host='${host}' port=${port} user=${user} password=${password}`
  const standby = await open(second, { primary_conninfo: follow })
  onTestFinished(() => standby.close())
  return { primary, standby }
}

async function asAdmin({ admin }: Embedded, ...statements: string[]): Promise<void> {
  const client = new pg.Client(admin)
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

test('after a failover a service is not ready until it finds the server that is writable now', async () => {
  const { primary, standby } = await startCluster()
  const { user, password, database } = primary.connection
  const proxies = [await startDatabaseProxy(standby.connection), await startDatabaseProxy(primary.connection)]
  const hosts = proxies.map(({ connection }) => `127.0.0.1:${connection.port}`).join()
  const service = await spawnService(primary.connection, {
    DATABASE_URL: `postgresql://${user}:${password}@${hosts}/${database}?target_session_attrs=read-write`,
  })
  onTestFinished(() => void service.child.kill('SIGKILL'))
  const readiness = async () => (await fetch(`${service.url}/readyz`)).status
  // The standby is the first in the list, and is passed over.
  expect(await readiness()).toBe(200)

  // The primary is demoted, and keeps its connections.
  await asAdmin(primary, 'alter system set default_transaction_read_only = on', 'select pg_reload_conf()')
  await until('it is not ready', async () => (await readiness()) === 503)
  expect(await readiness()).toBe(503)

  await asAdmin(standby, 'select pg_promote()')
  await until('it is ready', async () => (await readiness()) === 200)
  const client = new pg.Client(standby.connection)
  await client.connect()
  const listening = `select count(*)::int from pg_stat_activity where application_name = 'parley listener'`
  await until('it listens to the new server', async () => (await client.query(listening)).rows[0].count === 1)
  await client.end()
}, 120_000)

test('a service with one server is ready again when that server is writable again', async () => {
  const folder = newFolder()
  onTestFinished(() => removeFolder(folder))
  const server = await open(folder)
  onTestFinished(() => server.close())
  const service = await spawnService(server.connection)
  onTestFinished(() => void service.child.kill('SIGKILL'))
  const readiness = async () => (await fetch(`${service.url}/readyz`)).status
  expect(await readiness()).toBe(200)
  await asAdmin(server, 'alter system set default_transaction_read_only = on', 'select pg_reload_conf()')
  await until('it is not ready', async () => (await readiness()) === 503)
  await asAdmin(server, 'alter system reset default_transaction_read_only', 'select pg_reload_conf()')
  await until('it is ready', async () => (await readiness()) === 200)
}, 120_000)
