import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { asSuperuser, makeReadOnly, openCluster, openServer } from '../../testing/cluster.ts'
import { newFolder, removeFolder } from '../../testing/data-dir.ts'
import { startDatabaseProxy } from '../../testing/database-proxy.ts'
import { spawnService } from '../../testing/service.ts'
import { until } from '../../testing/until.ts'

test('after a failover a service is not ready until it finds the server that is writable now', async () => {
  const { primary, standby, close } = await openCluster()
  onTestFinished(close)
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
  await makeReadOnly(primary)
  await until('it is not ready', async () => (await readiness()) === 503)
  expect(await readiness()).toBe(503)

  await asSuperuser(standby, 'select pg_promote()')
  await until('it is ready', async () => (await readiness()) === 200)
  const client = new pg.Client(standby.connection)
  await client.connect()
  const listening = `select count(*)::int from pg_stat_activity where application_name = 'parley listener'`
  await until('it listens to the new server', async () => (await client.query(listening)).rows[0].count === 1)
  await client.end()
})

test('a service with one server is ready again when that server is writable again', async () => {
  const folder = newFolder()
  onTestFinished(() => removeFolder(folder))
  const server = await openServer(folder)
  onTestFinished(() => server.close())
  const service = await spawnService(server.connection)
  onTestFinished(() => void service.child.kill('SIGKILL'))
  const readiness = async () => (await fetch(`${service.url}/readyz`)).status
  expect(await readiness()).toBe(200)
  await makeReadOnly(server)
  await until('it is not ready', async () => (await readiness()) === 503)
  await asSuperuser(server, 'alter system reset default_transaction_read_only', 'select pg_reload_conf()')
  await until('it is ready', async () => (await readiness()) === 200)
})
