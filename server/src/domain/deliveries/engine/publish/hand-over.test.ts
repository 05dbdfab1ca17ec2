import { expect, onTestFinished, test } from 'vitest'
import { newServiceDatabase } from '../../../../../testing/database.ts'
import { newDeliveryProcesses } from '../../../../../testing/delivery-processes.ts'
import { type ServiceHere, startHere, startMortal } from '../../../../../testing/service-here.ts'
import { until } from '../../../../../testing/until.ts'
import { openDatabase } from '../../../../db/db.ts'
import { listenerName } from '../../../../db/notices/change-notices.ts'
import { announcementChannel, readAnnouncement } from './worker-notices.ts'

async function setUp() {
  const { connection, drop } = await newServiceDatabase()
  const db = openDatabase(connection, () => {}, 3)
  const processes = await newDeliveryProcesses(db, connection)
  const session = await db.session()
  onTestFinished(async () => {
    await session.close()
    await processes.close()
    await db.close()
    await drop()
  })
  const announced = new Set<string>()
  await session.listen(announcementChannel, (payload) => void announced.add(readAnnouncement(payload).id))
  return {
    db,
    ...processes,
    start: (role: 'api' | 'worker') => startHere(connection, { PARLEY_ROLE: role }),
    /** Starts workers, and waits until all processes know them. */
    async startWorkers(count: number) {
      announced.clear()
      const start = () => startMortal(connection, { PARLEY_ROLE: 'worker' })
      const workers = await Promise.all(Array.from({ length: count }, start))
      await until('the workers are announced', () => announced.size >= count)
      return workers
    },
    haveArrived: (ids: readonly string[]) => ids.every((id) => processes.arrivals.has(id)),
    /** How many deliveries have the lease that they were written with, which ends 30 seconds after their event. */
    async leasedAtInsert(): Promise<number> {
      const row = await db.first<{ count: number }>(
        `select count(*)::int as count from deliveries
         where lease is not null and due_at = event_created_at + interval '30 seconds'`,
      )
      return row?.count ?? 0
    },
    async leases(): Promise<number> {
      const row = await db.first<{ count: number }>('select count(lease)::int as count from deliveries')
      return row?.count ?? 0
    },
    /** Kills a worker, and waits until PostgreSQL has noticed: a notice that is sent until then is lost with its lease. */
    async kill(worker: { kill(): void }): Promise<void> {
      const listeners = () =>
        db.rows('select from pg_stat_activity where datname = current_database() and application_name = $1', [
          listenerName,
        ])
      const before = (await listeners()).length
      worker.kill()
      await until('its listener is gone', async () => (await listeners()).length < before)
    },
  }
}

async function attemptsOf({ url }: ServiceHere): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^parley_delivery_attempts_total\{outcome="delivered"\} (\d+)$/m.exec(metrics)?.[1] ?? 0)
}

test('an API process hands its deliveries to the workers in turn; a worker that stops releases them and gets nothing more; each arrives once', async () => {
  const { start, post, arrivals, startWorkers, haveArrived, hold, leasedAtInsert } = await setUp()
  const api = await start('api')
  const workers = await startWorkers(2)
  const respond = hold()
  // One worker attempts as many at a time.
  const first = await post(api, 8)
  await until('all have arrived', () => haveArrived(first))
  expect(await leasedAtInsert()).toBe(8)
  respond()
  const ids: string[] = []
  await until('each worker had its turn', async () => {
    ids.push(...(await post(api, 10)))
    const attempts = await Promise.all(workers.map(attemptsOf))
    return attempts.every((count) => count > 5)
  })

  let isStopped = false
  const stopped = workers[0]?.stop().then(() => {
    isStopped = true
  })
  while (!isStopped) ids.push(...(await post(api, 5)))
  ids.push(...(await post(api, 5)))
  await stopped
  await until('all have arrived', () => haveArrived(ids))
  expect([...arrivals.values()].every((times) => times.length === 1)).toBe(true)
  expect(await attemptsOf(api)).toBe(0)
})

test('deliveries do not wait for the lease of a worker that was killed', async () => {
  const { start, post, arrivals, startWorkers, haveArrived, leases, kill } = await setUp()
  const api = await start('api')
  const [killed, last] = await startWorkers(2)
  if (!killed || !last) throw new Error('no workers')
  await kill(killed)
  const ids = await post(api, 20)
  expect(ids).toHaveLength(20)
  // The leases last 30 seconds.
  await until('all have arrived', () => haveArrived(ids), 15_000)
  await until('all are recorded', async () => (await leases()) === 0)

  await kill(last)
  const waiting = await post(api, 20)
  await until('no delivery is leased to it', async () => (await leases()) === 0, 15_000)
  await startWorkers(1)
  await until('all have arrived', () => haveArrived(waiting), 15_000)
  expect([...arrivals.values()].every((times) => times.length === 1)).toBe(true)
})
