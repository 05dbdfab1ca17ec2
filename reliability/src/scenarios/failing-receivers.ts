import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '@parley/server/db/db'
import { systemClock } from '@parley/server/lib/clock'
import { newUuid } from '@parley/server/lib/ids'
import { newApp, newSender, text, webhookOf } from '../../../server/testing/network-app.ts'
import { type ServiceProcess, secretKeys, spawnService } from '../../../server/testing/service.ts'
import { newTenant } from '../../../server/testing/tenants.ts'
import { until } from '../../../server/testing/until.ts'
import { type CountingReceiver, openReceiver } from '../lib/counting-receiver.ts'
import { openPostgres } from '../lib/postgres.ts'
import type { Scenario } from '../lib/scenario.ts'
import { localEndpoints } from '../lib/shop.ts'

/** An endpoint of its own workspace, and messages for it in twelve webhooks a second, to both processes in turn. */
async function newEndpoint(db: Database, name: string, receiver: CountingReceiver, services: ServiceProcess[]) {
  const { workspaceId, webhookId } = await newTenant(db, name, receiver.urlOf(name).replace('127.0.0.1', 'localhost'))
  const target = { url: '', db, clock: systemClock, secretKeys }
  const app = await newApp(target)
  const { phoneNumberId } = await newSender(target, workspaceId, app.id, newUuid())
  const id = webhookId.slice(4)
  return {
    async writeFor(seconds: number): Promise<number> {
      const sent: Promise<number>[] = []
      for (let index = 0; index < seconds * 12; index++) {
        const body = webhookOf(phoneNumberId, [text(`wamid.${newUuid()}`)])
        sent.push(app.post(body, { url: services[index % services.length]?.url ?? '' }))
        await sleep(1000 / 12)
      }
      return (await Promise.all(sent)).filter((status) => status === 200).length
    },
    state: () =>
      db.first<{ enabled: boolean; failures: number }>('select enabled, failures from webhooks where id = $1', [id]),
    attempts: () =>
      db.rows<{ at: Date; state: string; duration_us: number }>(
        'select at, state, duration_us from delivery_attempts where webhook_id = $1 order by at, number',
        [id],
      ),
  }
}

/** Two processes deliver, on the real clock, to a receiver that is gone for four seconds and to one that stays down. */
export const scenario: Scenario = {
  name: 'failing-receivers',
  wanted:
    'a receiver that restarts for 4 s stays enabled and gets everything; one that stays down gets 20 attempts, those after the fifth 2 s apart',
  async run(say) {
    const postgres = await openPostgres()
    const { db, connection } = postgres
    const services = [await spawnService(connection, localEndpoints), await spawnService(connection, localEndpoints)]
    const restarting = await openReceiver()
    const down = await openReceiver()
    try {
      const first = await newEndpoint(db, 'restarts', restarting, services)
      const writing = first.writeFor(8)
      await sleep(2_000)
      restarting.cut()
      await sleep(4_000)
      await restarting.restore()
      const count = await writing
      await until('all events arrive', () => restarting.total() >= count, 30_000)
      const restarted = await first.state()
      const failed = (await first.attempts()).filter(({ state }) => state !== 'delivered').length
      say(`restarted: ${restarting.total()} of ${count} arrived, ${failed} attempts failed`)
      const isKept = restarted?.enabled === true && restarted.failures === 0 && failed >= 5 && failed < 12

      let requests = 0
      down.behave('down', (response) => {
        requests++
        response.writeHead(503).end()
        return false
      })
      const second = await newEndpoint(db, 'down', down, services)
      await second.writeFor(2)
      await until('the endpoint is disabled', async () => (await second.state())?.enabled === false, 90_000)
      await sleep(3_000)
      const attempts = await second.attempts()
      const paced = attempts.slice(-10)
      const gaps = paced.slice(1).map((attempt, index) => {
        const previous = paced[index] as (typeof paced)[number]
        return attempt.at.getTime() - previous.at.getTime() - previous.duration_us / 1000
      })
      const leastMs = Math.round(Math.min(...gaps))
      return {
        figure: `${restarting.total()} of ${count} arrived after a restart, ${restarted?.enabled ? 'enabled' : 'DISABLED'}; down: ${requests} requests, at least ${leastMs} ms apart`,
        ok: isKept && requests === 20 && attempts.length === 20 && leastMs >= 1_990,
      }
    } finally {
      for (const { child } of services) child.kill('SIGKILL')
      restarting.close()
      down.close()
      await postgres.close()
    }
  },
}
