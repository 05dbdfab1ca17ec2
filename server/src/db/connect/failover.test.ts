import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { asSuperuser, makeReadOnly, openCluster } from '../../../testing/cluster.ts'
import { startDatabaseProxy } from '../../../testing/database-proxy.ts'
import { newDataDir } from '../../../testing/prepared-data-dir.ts'
import { startHere } from '../../../testing/service-here.ts'
import { until } from '../../../testing/until.ts'

test('a service is not ready until it finds a server that is writable: the same one again, or another after a failover', async () => {
  const { primary, standby, close } = await openCluster(newDataDir())
  onTestFinished(close)
  const { user, password, database } = primary.connection
  const proxies = [await startDatabaseProxy(standby.connection), await startDatabaseProxy(primary.connection)]
  const hosts = proxies.map(({ connection }) => `127.0.0.1:${connection.port}`).join()
  const withOne = await startHere(primary.connection)
  const withBoth = await startHere(primary.connection, {
    DATABASE_URL: `postgresql://${user}:${password}@${hosts}/${database}?target_session_attrs=read-write`,
  })
  const readiness = () => Promise.all([withOne, withBoth].map(async ({ url }) => (await fetch(`${url}/readyz`)).status))
  const untilReady = (...wanted: number[]) =>
    until(`readiness is ${wanted}`, async () => String(await readiness()) === String(wanted))
  // The standby is the first in the list, and is passed over.
  expect(await readiness()).toEqual([200, 200])

  // The primary is demoted, and keeps its connections.
  await makeReadOnly(primary)
  await untilReady(503, 503)
  expect(await readiness()).toEqual([503, 503])
  await asSuperuser(primary, 'alter system reset default_transaction_read_only', 'select pg_reload_conf()')
  await untilReady(200, 200)

  await makeReadOnly(primary)
  await untilReady(503, 503)
  await asSuperuser(standby, 'select pg_promote()')
  await untilReady(503, 200)
  const client = new pg.Client(standby.connection)
  await client.connect()
  const listening = `select count(*)::int from pg_stat_activity where application_name = 'parley listener'`
  await until('it listens to the new server', async () => (await client.query(listening)).rows[0].count === 1)
  await client.end()
})
