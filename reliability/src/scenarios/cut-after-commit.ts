// Cuts the connection to PostgreSQL again and again, each time right after it has committed recorded attempts, while a
// service delivers. Every attempt must be recorded and counted once.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createWebhook } from '@parley/server/domain/webhooks/webhooks'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import { newApp, newSender, text, webhookOf } from '../../../server/testing/network-app.ts'
import { openDatabaseProxy } from '../../../server/testing/open-database-proxy.ts'
import { secretKeys, spawnService } from '../../../server/testing/service.ts'
import { openPostgres } from '../lib/postgres.ts'

const cuts = 10
const eventsPerCut = 20

export const scenario = {
  name: 'cut-after-commit',
  wanted: 'attempts recorded = counted = requests received',
  async run(say: (line: string) => void): Promise<{ figure: string; ok: boolean }> {
    const postgres = await openPostgres()
    const { db } = postgres
    let received = 0
    const receiver = createServer((request, response) => {
      received++
      request.resume().on('end', () => response.end())
    })
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    const proxy = await openDatabaseProxy(postgres.connection)
    const service = await spawnService(proxy.connection, {
      PARLEY_WEBHOOK_ALLOW_HTTP: 'true',
      PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    })
    try {
      const { id: workspaceId } = await createWorkspace(db, systemClock, 'cut')
      const url = `http://localhost:${(receiver.address() as AddressInfo).port}/`
      const rules = { allowHttp: true as const, allowRanges: [], resolve: async () => [] }
      const input = { workspaceId, name: 'receiver', url, events: ['message.received'] }
      await createWebhook(db, systemClock, secretKeys, rules, input)
      const target = { url: service.url, db, clock: systemClock, secretKeys }
      const app = await newApp(target)
      const { phoneNumberId } = await newSender(target, workspaceId, app.id, '99000000003')
      for (let round = 0; round < cuts; round++) {
        const cut = proxy.cutAfterCommit(/insert into delivery_attempts/)
        const texts = Array.from({ length: eventsPerCut }, (_, n) => text(`wamid.cut.${round}.${n}`))
        for (let attempt = 0; attempt < 100; attempt++) {
          if ((await app.post(webhookOf(phoneNumberId, texts))) === 200) break
          await sleep(50)
        }
        await Promise.race([cut, sleep(10_000)])
        say(`${round + 1} of ${cuts} connections cut, ${received} requests received`)
      }
      for (let wait = 0; wait < 600; wait++) {
        if ((await db.rows('select 1 from deliveries')).length === 0) break
        await sleep(100)
      }
      await service.stop()
      const recorded = (await db.rows('select 1 from delivery_attempts')).length
      const hours = await db.first<{ count: number }>(
        'select coalesce(sum(succeeded + failed), 0)::int as count from delivery_hours',
      )
      const figure = `${cuts} cuts: ${received} requests received, ${recorded} attempts recorded, ${hours?.count} counted`
      return { figure, ok: recorded === received && hours?.count === received && received >= cuts * eventsPerCut }
    } finally {
      service.child.kill('SIGKILL')
      proxy.close()
      receiver.closeAllConnections()
      receiver.close()
      await postgres.close()
    }
  },
}
