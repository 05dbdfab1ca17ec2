import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '@parley/server/db/db'
import { migrate } from '@parley/server/db/migrate/migrate'
import { asSuperuser, makeReadOnly, openCluster, openServer } from '../../../server/testing/cluster.ts'
import { newFolder } from '../../../server/testing/data-dir.ts'
import { openDatabaseProxy } from '../../../server/testing/open-database-proxy.ts'
import type { Scenario } from '../lib/scenario.ts'
import { isReady, list, openShop, secondsUntil } from '../lib/shop.ts'

const wantedSeconds = 20
/** A request to /readyz that is made when the server becomes read-only may take this long. */
const notReadySeconds = 2

/**
 * A primary with a synchronous standby, both in DATABASE_URL, under load. The primary becomes read-only and keeps its connections, as
 * after a demotion; two seconds later the standby is promoted.
 */
export const scenario: Scenario = {
  name: 'failover',
  wanted: `/readyz 503 immediately, recovered within ${wantedSeconds} s, nothing lost`,
  async run(say) {
    const dataDir = newFolder()
    await (await openServer(dataDir)).close()
    const cluster = await openCluster(dataDir)
    const { primary, standby } = cluster
    await migrate(primary.connection)
    await asSuperuser(primary, `alter system set synchronous_standby_names = '*'`, 'select pg_reload_conf()')
    // The test itself uses the proxy of the server that will be writable.
    const proxies = [await openDatabaseProxy(primary.connection), await openDatabaseProxy(standby.connection)]
    const { user, password, database } = primary.connection
    const servers = proxies.map(({ connection }) => `127.0.0.1:${connection.port}`).join()
    const [first, second] = proxies.map((proxy) => proxy.connection)
    const shop = await openShop({ ...first, otherServers: second ? [second] : [] })
    const { url, child } = await shop.start({ DATABASE_URL: `postgresql://${user}:${password}@${servers}/${database}` })
    let isLoading = true
    const loads = [shop.receive, shop.receive, shop.send].map(async (work) => {
      while (isLoading) {
        await work(url)
        await sleep(50)
      }
    })
    await sleep(2_000)
    await makeReadOnly(primary)
    const notReady = await secondsUntil(async () => !(await isReady(url)))
    await sleep(2_000)
    const staysNotReady = !(await isReady(url))
    await asSuperuser(standby, 'select pg_promote()')
    const seconds = await Promise.all([
      secondsUntil(() => isReady(url)),
      secondsUntil(() => shop.receive(url)),
      secondsUntil(() => shop.send(url)),
    ])
    say(
      `/readyz 503 after ${notReady.toFixed(1)} s; seconds after the promotion: ${list(seconds)} (ready, receives, sends)`,
    )
    isLoading = false
    await Promise.all(loads)
    // A pool that only reads stays with the server that is read-only now.
    const db = openDatabase(standby.connection, () => {}, 1)
    const { problems, summary } = await shop.prove(say, db)
    await db.close()
    child.kill('SIGKILL')
    await shop.close()
    for (const proxy of proxies) proxy.close()
    await cluster.close()
    const worst = Math.max(...seconds)
    return {
      figure: `503 after ${notReady.toFixed(1)} s, recovered in ${worst.toFixed(1)} s; ${summary}`,
      ok: notReady <= notReadySeconds && staysNotReady && worst <= wantedSeconds && problems.length === 0,
    }
  },
}
