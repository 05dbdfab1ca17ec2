import { expect, test } from 'vitest'
import { newProcessShop } from '../../../../testing/shop-process.ts'
import { until } from '../../../../testing/until.ts'
import { watchWorkerNotices } from '../../../../testing/worker-notices.ts'

test('an API process wakes one of the workers for a message it has accepted, and each message is sent once', async () => {
  const { db, control, start, sendText } = await newProcessShop()
  const { workers, wakes } = await watchWorkerNotices(db)
  const api = await start({ PARLEY_ROLE: 'api' })
  await Promise.all([start({ PARLEY_ROLE: 'worker' }), start({ PARLEY_ROLE: 'worker' })])
  await until('the workers are announced', () => workers.size === 2)
  for (let n = 1; n <= 5; n++) {
    expect((await sendText(api, `1650555010${n}`)).status).toBe(202)
    await until('a worker is woken', () => wakes().length === n)
  }
  expect(wakes()).toEqual(Array(5).fill('send'))
  await until('all are sent', async () => (await db.rows('select 1 from outbox')).length === 0)
  expect(await db.rows(`select 1 from messages where status = 'failed'`)).toEqual([])
  await control.idle()
})
