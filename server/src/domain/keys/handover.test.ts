import { expect, test } from 'vitest'
import { callApi } from '../../../testing/call.ts'
import { asAdmin } from '../../../testing/database.ts'
import { useHouse } from '../../../testing/house.ts'
import { newRuntime } from '../../../testing/runtime.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { buildApi } from '../../api.ts'
import { openDatabase } from '../../db/db.ts'

const house = useHouse()

/** One more process of the house, which can be stopped. */
async function anotherProcess() {
  const db = openDatabase(house.connection, () => {}, 3)
  const runtime = newRuntime({ db, clock: house.clock, secretKeys: house.secretKeys })
  const api = await buildApi(runtime, { isReady: async () => true })
  const url = await api.app.listen({ host: '127.0.0.1', port: 0 })
  return {
    url,
    async stop() {
      await api.app.close()
      await api.flush()
      await db.close()
    },
  }
}

test('a window goes on when processes come and go', async () => {
  const workspace = await newWorkspace(house)
  const { secret: key } = await workspace.newKey({ budget: 12 })
  const seen: string[] = []
  const ask = async (...urls: string[]) => {
    for (const url of urls) {
      const { status, headers } = await callApi(`${url}/v1/me`, { key })
      seen.push(`${status} ${headers.get('ratelimit-remaining')} ${headers.get('ratelimit-reset')}`)
    }
  }
  await ask(house.url, house.url)
  house.clock.forward({ seconds: 10 })
  const second = await anotherProcess()
  await ask(second.url, house.url, second.url)
  house.clock.forward({ seconds: 10 })
  const third = await anotherProcess()
  await ask(third.url, second.url, house.url)
  await second.stop()
  await third.stop()
  await ask(house.url, house.url)
  const fourth = await anotherProcess()
  await ask(fourth.url, house.url, fourth.url, house.url)
  await fourth.stop()
  expect(seen).toEqual([
    '200 11 60',
    '200 10 60',
    ...['200 9 50', '200 8 50', '200 7 50'],
    ...['200 6 40', '200 5 40', '200 4 40'],
    ...['200 3 40', '200 2 40'],
    ...['200 1 40', '200 0 40', '429 0 40', '429 0 40'],
  ])
})

test('requests under way while a process starts and another stops are counted once each', async () => {
  const workspace = await newWorkspace(house)
  const { secret: key } = await workspace.newKey({ budget: 100 })
  const urls = [house.url]
  const answers: Promise<number>[] = []
  const flood = (count: number) => {
    for (let index = 0; index < count; index++) {
      answers.push(callApi(`${urls[index % urls.length]}/v1/me`, { key }).then(({ status }) => status))
    }
  }
  flood(40)
  const starting = anotherProcess()
  flood(40)
  const second = await starting
  urls.push(second.url)
  flood(40)
  const third = await anotherProcess()
  urls.push(third.url)
  flood(60)
  await Promise.all(answers)
  await second.stop()
  urls.splice(1, 1)
  flood(20)
  const statuses = await Promise.all(answers)
  expect(statuses.filter((status) => status === 200)).toHaveLength(100)
  expect(statuses.filter((status) => status === 429)).toHaveLength(100)
  await third.stop()
})

test('a process whose database connections were all cut goes on counting where it was', async () => {
  const workspace = await newWorkspace(house)
  const { secret: key } = await workspace.newKey({ budget: 5 })
  const left = async () => {
    for (;;) {
      const { status, headers } = await house.call('/v1/me', { key })
      if (status !== 503) return headers.get('ratelimit-remaining')
    }
  }
  expect([await left(), await left()]).toEqual(['4', '3'])
  await asAdmin(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${house.connection.database}'`)
  expect([await left(), await left()]).toEqual(['2', '1'])
})
