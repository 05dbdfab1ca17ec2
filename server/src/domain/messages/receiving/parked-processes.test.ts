import { expect, test } from 'vitest'
import { newProcessShop } from '../../../../testing/shop-process.ts'
import { until } from '../../../../testing/until.ts'
import { watchWorkerNotices } from '../../../../testing/worker-notices.ts'

async function setUp() {
  const { db, control, start, startMortal } = await newProcessShop()
  const wabaId = control.wabas.list()[0]?.id ?? ''
  return {
    db,
    control,
    start: (role: 'api' | 'worker') => start({ PARLEY_ROLE: role }),
    startMortal: () => startMortal({ PARLEY_ROLE: 'worker' }),
    addNumber: (phoneNumber: string) => control.numbers.create({ wabaId, phoneNumber }).phoneNumber,
    texts: async () =>
      (await db.rows<{ body: Buffer }>('select body from events order by created_at, id')).map(
        ({ body }) => (JSON.parse(body.toString()) as { data: { text: string } }).data.text,
      ),
  }
}

const parkedOf = async (db: Awaited<ReturnType<typeof setUp>>['db']) =>
  (await db.first<{ count: number }>('select count(*)::int as count from parked_updates'))?.count

test('updates parked by an API process are published once when a killed worker is replaced by two', async () => {
  const { db, control, start, startMortal, addNumber, texts } = await setUp()
  await start('api')
  const killed = await startMortal()
  killed.kill()
  const number = addNumber('15550780091')
  const messages = Array.from({ length: 10 }, (_, n) => `message ${n}`)
  for (const text of messages) {
    await control.phones.say('491701112223', { to: number, text })
    await control.idle()
  }
  expect([await parkedOf(db), await texts()]).toEqual([10, []])
  await Promise.all([start('worker'), start('worker')])
  await until('all updates are published', async () => (await texts()).length >= messages.length)
  expect(await texts()).toEqual(messages)
  expect(await parkedOf(db)).toBe(0)

  // A running worker is woken by the API process.
  const { workers, wakes } = await watchWorkerNotices(db)
  await until('the workers are announced', () => workers.size === 2)
  const another = addNumber('15550780092')
  await control.phones.say('491701112223', { to: another, text: 'woken' })
  await until('a worker is woken', () => wakes().includes('sync accounts'))
  await until('the update is published', async () => (await texts()).includes('woken'))
})
