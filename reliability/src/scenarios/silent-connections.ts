import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabaseProxy } from '../../../server/testing/open-database-proxy.ts'
import { urlOf } from '../../../server/testing/service.ts'
import { openPostgres } from '../lib/postgres.ts'
import type { Scenario } from '../lib/scenario.ts'
import { isReady, list, openShop, secondsUntil } from '../lib/shop.ts'

const rounds = 3
const wantedSeconds = 20

/**
 * A firewall drops all connections of a process to its database without closing them, under load. What may take until it has recovered:
 * receiving, sending and being ready.
 */
export const scenario: Scenario = {
  name: 'silent-connections',
  wanted: `receives and sends again within ${wantedSeconds} s, nothing lost`,
  async run(say) {
    const postgres = await openPostgres()
    const shop = await openShop(postgres.connection)
    const proxy = await openDatabaseProxy(postgres.connection)
    const { url, child } = await shop.start({ DATABASE_URL: urlOf(proxy.connection) })
    let isLoading = true
    const loads = [shop.receive, shop.receive, shop.send].map(async (work) => {
      while (isLoading) {
        await work(url)
        await sleep(50)
      }
    })
    let worst = 0
    for (let round = 1; round <= rounds; round++) {
      await sleep(1_000 + Math.random() * 500)
      proxy.silence()
      // Each of them may have to wait for the request that is being made when the connections go silent.
      const seconds = await Promise.all([
        secondsUntil(() => shop.receive(url)),
        secondsUntil(() => shop.send(url)),
        secondsUntil(() => isReady(url)),
      ])
      say(`round ${round}, seconds: ${list(seconds)} (receives, sends, ready)`)
      worst = Math.max(worst, ...seconds)
    }
    isLoading = false
    await Promise.all(loads)
    const { problems, summary } = await shop.prove(say)
    child.kill('SIGKILL')
    proxy.close()
    await shop.close()
    await postgres.close()
    return { figure: `${worst.toFixed(1)} s at most; ${summary}`, ok: worst <= wantedSeconds && problems.length === 0 }
  },
}
