import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { newEmptyDatabase } from '../testing/database.ts'
import { localRules } from '../testing/deliveries.ts'
import { checkOut, findPrevious } from '../testing/previous-version.ts'
import { startReceiver } from '../testing/receiver.ts'
import { secretKeys, spawnService } from '../testing/service.ts'
import { startHere } from '../testing/service-here.ts'
import { openProcessShop } from '../testing/shop-process.ts'
import { tempFolder } from '../testing/temp-folder.ts'
import { localReceivers } from '../testing/tenants.ts'
import { until } from '../testing/until.ts'
import { migrate } from './db/migrate.ts'
import { verifyLedger } from './domain/credits/verify-ledger.ts'
import { createWebhook } from './domain/webhooks/webhooks.ts'
import { systemClock } from './lib/clock.ts'
import { newLogger } from './lib/logger.ts'

/** `npm run reliability -- rolling-upgrade` upgrades one process after the other, under load. */
test('a process of the last release keeps receiving, delivering and sending on this schema, next to one of this version', async ({
  skip,
}) => {
  const previous = findPrevious()
  if ('missing' in previous) return skip(previous.missing)
  const { connection, drop } = await newEmptyDatabase()
  onTestFinished(drop)
  const root = checkOut(previous.commit, join(tempFolder(), 'old'))
  const old = await spawnService(connection, localReceivers, { root })
  onTestFinished(() => void old.child.kill('SIGKILL'))
  await migrate(connection)
  const shop = await openProcessShop(connection)
  onTestFinished(() => shop.close())
  const { db, control, workspaceId, connect, sendText } = shop
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  const input = { workspaceId, name: 'receiver', url: receiver.url, events: ['message.received'] }
  await createWebhook(db, systemClock, secretKeys, localRules, input)
  const services = [old, await startHere(connection)]
  const texts: string[] = []
  for (const [index, service] of services.entries()) {
    await connect(service, {})
    for (let n = 0; n < 5; n++) {
      expect((await sendText(service, `1650555${index}00${n}`)).status).toBe(202)
      texts.push(`to ${index}, ${n}`)
      await control.phones.say('491701112223', { to: '15550780001', text: texts.at(-1) ?? '' })
    }
    await control.idle()
  }
  const open = 'select (select count(*) from deliveries) + (select count(*) from outbox) as open'
  await until('nothing waits', async () => (await db.first<{ open: number }>(open))?.open === 0)
  const arrived = receiver.received.map(({ body }) => (JSON.parse(body) as { data: { text: string } }).data.text)
  expect(arrived.sort()).toEqual(texts.sort())
  const calls = control.log
    .list({ limit: 1_000 })
    .filter((line) => line.kind === 'call' && /\/messages$/.test(line.url))
  expect(calls).toHaveLength(10)
  expect(await verifyLedger(db, newLogger('silent'))).toEqual([])
  expect(await old.stop()).toBe(0)
  expect(old.output()).not.toMatch(/"level":(50|60)/)
})
