import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { asSuperuser, type Cluster, openCluster } from '../../../testing/cluster.ts'
import { type SignedInPerson, signedIn } from '../../../testing/console.ts'
import { startDatabaseProxy } from '../../../testing/database-proxy.ts'
import { watchLive } from '../../../testing/live.ts'
import { newDataDir } from '../../../testing/prepared-data-dir.ts'
import { urlOf } from '../../../testing/service.ts'
import { type ServiceHere, startHere } from '../../../testing/service-here.ts'
import type { TestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { createKey } from '../../domain/keys/keys.ts'
import { createWorkspace } from '../../domain/workspaces/workspaces.ts'
import type { Clock } from '../../lib/clock.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { openDatabaseClock } from '../database-clock.ts'
import { type Database, openDatabase } from '../db.ts'
import { migrate } from '../migrate/migrate.ts'
import { openReplica, type Replica } from './replica.ts'

let cluster: Cluster
let db: Database
let clock: Clock
/** In this process. */
let replica: Replica
const logged: string[] = []
/** A service with its own connections, with the console. */
let service: ServiceHere

beforeAll(async () => {
  cluster = await openCluster(newDataDir())
  const { primary, standby } = cluster
  await migrate(primary.connection)
  db = openDatabase(primary.connection, () => {}, 3)
  clock = await openDatabaseClock(db)
  replica = openReplica(db, standby.connection, newLogger('info', { write: (line) => void logged.push(line) }))
  service = await startHere(primary.connection, {
    PARLEY_DATABASE_READ_URL: urlOf(standby.connection),
    PARLEY_OPERATOR_TWO_FACTOR: 'optional',
    LOG_LEVEL: 'info',
  })
})

afterAll(async () => {
  await service?.stop()
  await replica?.close()
  await db?.close()
  await cluster?.close()
})

const pauseReplay = () => asSuperuser(cluster.standby, 'select pg_wal_replay_pause()')
const resumeReplay = () => asSuperuser(cluster.standby, 'select pg_wal_replay_resume()')

/** Whether this process reads from the standby. */
const readsStandby = async (): Promise<boolean> =>
  (await replica.db.first<{ standby: boolean }>('select pg_is_in_recovery() as standby'))?.standby === true

const countOf = (text: string, event: string): number => text.split(`"event":"${event}"`).length - 1

/** Whether the service reads from the standby, by its log. */
const serviceReadsStandby = (): boolean =>
  countOf(service.output(), 'database.replica_used') > countOf(service.output(), 'database.replica_fallback')

beforeEach(async () => {
  await resumeReplay()
  await until('the replica is used', async () => serviceReadsStandby() && (await readsStandby()), 60_000)
})

async function newShop() {
  const { id } = await createWorkspace(db, clock, 'Shop')
  const person = await signedIn({ db, clock, url: service.url } as TestServer, { workspaceId: id, role: 'admin' })
  return { id, person, newKey: (name: string) => newKey(id, name) }
}

/** A change by someone else. */
const newKey = (workspaceId: string, name: string) =>
  createKey(db, clock, { workspaceId, name, scopes: [], rateLimitPerMin: 100, createdBy: 'test' })

/** The names in a list that the console may read from the standby. */
async function keyNames(person: SignedInPerson, workspaceId: string): Promise<string[]> {
  const { status, body } = await person.call(`/w/${workspaceId}/keys`)
  expect(status).toBe(200)
  return body.data.map(({ name }: { name: string }) => name)
}

const forgetChanges = (person: SignedInPerson) => person.cookies.delete('parley-changed')

/** How many connections to a server have last read API keys. */
async function readersOf(server: Cluster['standby']): Promise<number> {
  const client = new pg.Client(server.admin)
  await client.connect()
  const { rows } = await client.query(
    `select count(*)::int from pg_stat_activity where usename = 'parley' and query ~ 'from api_keys'`,
  )
  await client.end()
  return rows[0].count
}

test('a list of the console is read from the standby', async () => {
  const { id, person, newKey } = await newShop()
  await newKey('first')
  forgetChanges(person)
  await until('the list is read there', async () => {
    const names = await keyNames(person, id)
    return names.includes('first') && (await readersOf(cluster.standby)) > 0
  })
})

test('the standby shows only the rows of the workspace', async () => {
  const [one, other] = [await newShop(), await newShop()]
  await one.newKey('of one')
  await other.newKey('of the other')
  const rows = () =>
    replica.db
      .within(one.id)
      .rows<{ name: string; standby: boolean }>(`select name, pg_is_in_recovery() as standby from api_keys`)
  await until('it is on the standby', async () => {
    const found = await rows()
    expect(found.filter(({ name }) => name === 'of the other')).toEqual([])
    return found.length === 1 && found[0]?.standby === true
  })
  expect(await keyNames(one.person, one.id)).toEqual(['of one'])
})

test('a person sees what they have changed, although the standby does not have it', async () => {
  const { id, person } = await newShop()
  let attempt = 0
  await until(
    'a read without the cookie is older',
    async () => {
      await resumeReplay()
      await until('the replica is used', async () => serviceReadsStandby(), 60_000)
      await pauseReplay()
      const name = `new ${++attempt}`
      const created = await person.call(`/w/${id}/keys`, { method: 'POST', body: { name, scopes: [] } })
      expect(created.status).toBe(201)
      expect(created.headers.get('set-cookie')).toMatch(/^parley-changed=1; .*Max-Age=6$/)
      expect(await keyNames(person, id)).toContain(name)
      forgetChanges(person)
      return !(await keyNames(person, id)).includes(name)
    },
    90_000,
  )
})

test('when a browser is notified of a change, its next read has it', async () => {
  const { id, person, newKey } = await newShop()
  const stream = await watchLive(service.url, person, id)
  forgetChanges(person)
  for (let round = 1; round <= 3; round++) {
    const notices = () => stream.text.split('"topic":"orders"').length
    const before = notices()
    await pauseReplay()
    await newKey(`key ${round}`)
    db.notify(id, 'orders')
    const resuming = setTimeout(() => void resumeReplay(), 1_000)
    await until('the notice arrives', () => notices() > before, 30_000)
    clearTimeout(resuming)
    expect(await keyNames(person, id)).toContain(`key ${round}`)
    await resumeReplay()
    await until('the replica is used', async () => serviceReadsStandby(), 60_000)
  }
  stream.close()
})

test('a standby that is behind is left with one line in the log, and used again with one', async () => {
  const { id, person, newKey } = await newShop()
  const events = () => [...service.output().matchAll(/"event":"database\.replica_(\w+)"/g)].map(([, event]) => event)
  const operator = await signedIn({ db, clock, url: service.url } as TestServer, { operator: true })
  const health = async () => {
    const { body } = await operator.call('/operator/health')
    return body.findings.find(({ check }: { check: string }) => check === 'replica')
  }
  const before = events().length
  forgetChanges(person)
  await pauseReplay()
  await newKey('late')
  await until('the primary is read', async () => (await keyNames(person, id)).includes('late'), 30_000)
  await until('it is logged', () => events().length > before)
  expect(await health()).toMatchObject({
    verdict: 'warning',
    message: expect.stringContaining('more than 5 seconds behind'),
  })
  await resumeReplay()
  await until('it is used again', async () => (await health()).verdict === 'ok', 60_000)
  expect(events().slice(before, before + 2)).toEqual(['fallback', 'used'])
  expect(events().every((event, at, all) => event !== all[at - 1])).toBe(true)
  expect(await (await fetch(`${service.url}/metrics`)).text()).toMatch(/^parley_database_replica_used [01]$/m)
})

test('a server that is not a standby of the primary is not read from', async () => {
  const lines: string[] = []
  const log = newLogger('info', { write: (line) => void lines.push(line) })
  const wrong = openReplica(db, cluster.primary.connection, log)
  await until('it is left', () => countOf(lines.join(''), 'database.replica_fallback') === 1)
  expect(lines.join('')).toContain('It is not a standby of the primary.')
  expect(await wrong.db.first('select 1 as one')).toEqual({ one: 1 })
  await wrong.close()
})

test('a standby is not read from as another user, to whom row-level security may not apply', async () => {
  const lines: string[] = []
  const log = newLogger('info', { write: (line) => void lines.push(line) })
  const { database } = cluster.standby.connection
  const wrong = openReplica(db, { ...cluster.standby.admin, database }, log)
  await until('it is left', () => countOf(lines.join(''), 'database.replica_fallback') === 1)
  expect(lines.join('')).toContain('Its user is postgres, not parley.')
  await wrong.close()
})

test('an export writes its audit entry on the primary', async () => {
  const { id, person } = await newShop()
  forgetChanges(person)
  const { status, body } = await person.call(`/w/${id}/orders.csv`)
  expect(status).toBe(200)
  expect(body).toMatch(/^order,/)
  const actions = await db.rows('select action from audit_entries where workspace_id = $1 and action = $2', [
    id,
    'data.export',
  ])
  expect(actions).toHaveLength(1)
})

test('a statement that the standby cancels or cannot run is repeated on the primary', async () => {
  const conflict = `do $$ begin if pg_is_in_recovery() then raise exception sqlstate '40001'; end if; end $$`
  expect(await replica.db.rows(conflict)).toEqual([])
  // PostgreSQL refuses this during recovery.
  const written = await replica.db.first('select pg_current_wal_lsn() is not null as is_known')
  expect(written).toEqual({ is_known: true })
  expect(db.telemetry.metrics.counts('replica reads repeated').get('primary')).toBeGreaterThanOrEqual(2)
  expect(await readsStandby()).toBe(true)
})

test('a read that the standby does not respond to is repeated on the primary as soon as it is left', async () => {
  const proxy = await startDatabaseProxy(cluster.standby.connection)
  const lines: string[] = []
  const log = newLogger('info', { write: (line) => void lines.push(line) })
  const silent = openReplica(db, proxy.connection, log)
  onTestFinished(() => silent.close())
  const read = () => silent.db.first('select pg_is_in_recovery() as standby')
  await until('it is used', () => countOf(lines.join(''), 'database.replica_used') === 1)
  expect(await read()).toEqual({ standby: true })
  proxy.hang()
  const reading = read()
  await until('it is left', () => countOf(lines.join(''), 'database.replica_fallback') === 1)
  expect(await Promise.race([reading, sleep(2_000, 'still waiting')])).toEqual({ standby: false })
  proxy.cut()
})

test('if the standby stops, lists are read from the primary without an error', async () => {
  const { id, person, newKey } = await newShop()
  await newKey('kept')
  forgetChanges(person)
  const reads: Promise<string[]>[] = []
  const reading = setInterval(() => reads.push(keyNames(person, id)), 50)
  await until('the reads have begun', () => reads.length > 5)
  await cluster.standby.close()
  await until('it is left', () => !serviceReadsStandby(), 30_000)
  clearInterval(reading)
  for (const names of await Promise.all(reads)) expect(names).toContain('kept')
  expect(await keyNames(person, id)).toContain('kept')
})
