import { expect, onTestFinished, test } from 'vitest'
import { newProcessShop } from '../../../../testing/shop-process.ts'
import { until } from '../../../../testing/until.ts'
import { changeChannel } from '../../../db/change-notices.ts'

async function setUp() {
  const { db, control, start } = await newProcessShop()
  const wabaId = control.wabas.list()[0]?.id ?? ''
  return {
    db,
    control,
    start: (role: 'api' | 'worker') => start({ PARLEY_ROLE: role }),
    addNumber: (phoneNumber: string) => control.numbers.create({ wabaId, phoneNumber }).phoneNumber,
    texts: async () =>
      (await db.rows<{ body: Buffer }>('select body from events order by created_at, id')).map(
        ({ body }) => (JSON.parse(body.toString()) as { data: { text: string } }).data.text,
      ),
  }
}

const parkedOf = async (db: Awaited<ReturnType<typeof setUp>>['db']) =>
  (await db.first<{ count: number }>('select count(*)::int as count from parked_updates'))?.count

test('what an API process parks is published once, though the worker was killed and two new ones start at once', async () => {
  const { db, control, start, addNumber, texts } = await setUp()
  await start('api')
  const killed = await start('worker')
  killed.child.kill('SIGKILL')
  await new Promise((resolve) => killed.child.once('exit', resolve))
  const number = addNumber('15550780091')
  const wanted = Array.from({ length: 40 }, (_, n) => `message ${n}`)
  for (const text of wanted) {
    await control.phones.say('491701112223', { to: number, text })
    await control.idle()
  }
  expect([await parkedOf(db), await texts()]).toEqual([40, []])
  await Promise.all([start('worker'), start('worker')])
  await until('everything is published', async () => (await texts()).length >= wanted.length)
  expect(await texts()).toEqual(wanted)
  expect(await parkedOf(db)).toBe(0)

  // Now that a worker runs, the API process wakes it.
  const session = await db.session()
  onTestFinished(() => session.close())
  const heard: string[] = []
  await session.listen(changeChannel, (payload) => void heard.push(payload))
  const another = addNumber('15550780092')
  await control.phones.say('491701112223', { to: another, text: 'at once' })
  await until('the worker is woken', () => heard.some((payload) => payload.includes('sync_due')))
  await until('it is published', async () => (await texts()).includes('at once'))
}, 90_000)
